/** Hashes passwords with argon2id, few at once. */
import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createTurns } from '../../threads/turns.ts'

/** Of one hash: KiB of memory, passes, threads. It takes about 25 ms. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Limits: hashes that run at once, that wait, and for how long. They run in threads that files need, too. */
const RUNNING_MAX = 2
const WAITING_MAX = 64
const WAIT_MS_MAX = 10_000

export interface PasswordHashes {
  /** @param address - addresses take turns @throws ApiError server_overloaded, read_timeout */
  hash(password: string, address: string): Promise<string>
  /**
   * Whether a password is that of a hash. Takes the same time where there is none, and is then false.
   *
   * @throws ApiError server_overloaded, read_timeout
   */
  isOf(stored: string | null, password: string, address: string): Promise<boolean>
  close(): void
}

export async function createPasswordHashes(): Promise<PasswordHashes> {
  const turns = createTurns({
    slots: RUNNING_MAX,
    queueMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
  })
  /** Of no password that anybody knows. */
  const nobody = await hash(randomBytes(32), COST)

  async function inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
    const leave = await turns.enter({ keyId: address, project_id: '' })
    try {
      return await work()
    } finally {
      leave()
    }
  }

  return {
    hash: (password, address) => inTurn(address, () => hash(normalize(password), COST)),
    async isOf(stored, password, address) {
      const isRight = await inTurn(address, () => verify(stored ?? nobody, normalize(password)))
      return stored !== null && isRight
    },
    close: turns.close,
  }
}

/** The same text has the same form, whatever keyboard it was typed on. */
function normalize(password: string): string {
  return password.normalize('NFKC')
}
