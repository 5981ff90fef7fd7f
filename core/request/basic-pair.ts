const BASIC = /^basic +(.+)$/is

/** The decoded `user:password` of an `Authorization` or `Proxy-Authorization` header; null for any other scheme. */
export function basicPair(value: string): string | null {
  const encoded = BASIC.exec(value.trim())?.[1]
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('utf8')
}
