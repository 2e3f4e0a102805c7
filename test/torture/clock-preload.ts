/** Loaded before the server by `--import`: SIGUSR2 sets its wall clock a day ahead, and the next one back. */
const DAY_MS = 86_400_000
const realNow = Date.now.bind(Date)
let aheadMs = 0

Date.now = () => realNow() + aheadMs
process.on('SIGUSR2', () => {
  aheadMs = aheadMs === 0 ? DAY_MS : 0
})
