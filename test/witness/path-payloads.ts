/** Requests for one item that try to reach something else; one character per byte (latin1). */
export function pathPayloads(lists: readonly string[]): readonly string[] {
  const lines = lists.flatMap((text) => text.split(/\r?\n/)).filter((line) => line !== '')
  const found = new Set<string>()
  for (const line of [...lines, ...OWN]) {
    const payload = line
      .replaceAll('{FILE}', 'secret')
      .replace(/[\s#?]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
    for (const before of ['', '1', '1/'])
      for (const after of ['', '/secret']) found.add(`/items/${before}${payload}${after}`)
  }
  return [...found]
}

const SLASHES = [
  '%2f',
  '%2F',
  '%252f',
  '%25252f',
  '%2525252f',
  '%EF%BC%8F',
  '%E2%88%95',
  '%E2%81%84',
  '%E2%88%96',
  '%c0%af',
  '%5c',
  '\\',
  ';/',
  ';%2f',
]
const DOTS = ['.', '%2e', '%252e', '%EF%BC%8E', '%E2%80%A4', '%c0%ae']
/** What is tried without any list. */
const OWN = [
  ...SLASHES.flatMap((slash) => [
    `${slash}secret`,
    `1${slash}secret`,
    `1${slash}${slash}secret`,
    slash,
  ]),
  ...DOTS.flatMap((dot) =>
    ['/', ...SLASHES].flatMap((slash) => [`${dot}${dot}${slash}secret`, `1${slash}${dot}${dot}`]),
  ),
]
