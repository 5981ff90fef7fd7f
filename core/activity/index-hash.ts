/**
 * Of a value in the index of an hour (core/activity/hour-index.ts), 32 bits. FNV-1a over the code units; the last steps, those
 * of MurmurHash3, spread it over all bits, because the first ones choose a bucket.
 */
export function indexHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
