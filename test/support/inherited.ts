const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env

/** The variables that a process of a test inherits. */
export const INHERITED = { PATH, TMPDIR, NODE_COMPILE_CACHE }
