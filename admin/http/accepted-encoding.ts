/**
 * The better of the encodings that a request accepts, by its Accept-Encoding; null: none of ours. Browsers send a plain list; what
 * refuses an encoding with q=0 gets the answer as it is.
 */
export function acceptedEncoding(accepted: string | undefined): 'br' | 'gzip' | null {
  const names = (accepted ?? '').split(',').map((name) => name.trim())
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : null
}
