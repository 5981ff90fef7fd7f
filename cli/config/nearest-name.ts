/** Names whose edit distance is above this share of their length are not similar. */
const DISTANCE_SHARE = 0.4
/** The name comes from a file and can be any text. */
const LENGTH_LIMIT = 64

/** The most similar name, for a "did you mean"; null if none is similar. */
export function nearestName(given: string, names: readonly string[]): string | null {
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const name of names) {
    const distance = distanceOf(given.slice(0, LENGTH_LIMIT), name)
    if (best === null || distance < best.distance) best = { name, distance }
  }
  const limit = DISTANCE_SHARE * Math.max(given.length, best?.name.length ?? 0)
  if (best !== null && best.distance <= limit) return best.name
  return names.find((name) => name.includes(given) || given.includes(name)) ?? null
}

/** Levenshtein distance. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, character] of Array.from(one).entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++)
      next.push(
        Math.min(
          (next[j] ?? 0) + 1,
          (row[j + 1] ?? 0) + 1,
          (row[j] ?? 0) + (character === other[j] ? 0 : 1),
        ),
      )
    row = next
  }
  return row[other.length] ?? 0
}
