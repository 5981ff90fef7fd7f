import { TEMPLATES } from '../catalogue/templates/all.ts'
import { parseTarget } from '../request/parse-target.ts'

/** Longer ones are read as they are. */
const URL_LENGTH_MAX = 2_048
/** The methods and URLs that a template has words for. */
interface Worded {
  readonly method: string
  readonly url: RegExp
  readonly words: string
}

const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replaceAll(/[.?+^$|()[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\{\w+\}/g, '[^/.]+')
      .replaceAll('**', '.+')
      .replaceAll('*', '[^/]+')}$`,
  )

const WORDED: readonly Worded[] = TEMPLATES.flatMap(({ base_url, title, words = {} }) =>
  Object.entries(words).map(([call, said]) => {
    const [method = '', path = ''] = call.split(' ')
    return { method, url: patternOf(`${base_url}${path}`), words: `${said} (${title})` }
  }),
)

/**
 * What a call does in the words of the template of its API, `Refund a payment (Stripe)`; null if there are none, or if the URL can be
 * read in another way. Only the method and the URL are looked at.
 */
export function wordsOfCall(method: string, url: string): string | null {
  if (url.length > URL_LENGTH_MAX) return null
  const parsed = parseTarget(`/${url}`)
  if (!parsed.ok) return null
  const { origin, segments, split_readings, has_empty_segment } = parsed.target
  if (split_readings.length > 0 || has_empty_segment) return null
  const plain = `${origin}/${segments.join('/')}`
  return WORDED.find((one) => one.method === method && one.url.test(plain))?.words ?? null
}
