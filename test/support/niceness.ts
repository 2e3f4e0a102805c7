/** The niceness of a thread of Linux: the 19th field of its status line, counted behind its name. */
export function nicenessOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
}
