import type { Gate } from '../pattern.ts'

/** A word of the list `first`, followed within so many words by one of the list `second`. */
export const gate = (first: string, second: string, within: number): Gate => ({
  first,
  second,
  within,
})
