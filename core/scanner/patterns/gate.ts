import type { Gate } from '../pattern.ts'

/** A word of the list `first`, followed within so many words by one of the list `second`. */
export const gate = (first: string, second: string, within: number): Gate => ({
  first,
  second,
  within,
})

/** The same in either order: two gates. */
export const bothWays = (first: string, second: string, within: number): readonly Gate[] => [
  gate(first, second, within),
  gate(second, first, within),
]
