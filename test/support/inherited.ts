const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env

/** What a process of a test takes from the environment, whatever else stands in it. */
export const INHERITED = { PATH, TMPDIR, NODE_COMPILE_CACHE }
