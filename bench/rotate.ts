/** The items in their order, beginning with another one each round, so that none is always measured first. */
export const rotate = <T>(items: readonly T[], round: number): readonly T[] => {
  const first = round % Math.max(1, items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}
