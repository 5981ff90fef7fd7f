/** A number with its noun: `1 key`, `2 keys`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`
