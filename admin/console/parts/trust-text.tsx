import { useEffect, useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { ScanReport, Scope } from '../api-types.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { customPatternFix, patternFix, trustFix } from '../scope-options.ts'
import { useSettled } from '../use-settled.ts'
import { TextArea } from './fields.tsx'
import { ProblemNotice } from './notices.tsx'
import { RefusedBefore } from './refused-before.tsx'
import { type FixedCall, ScopeFix } from './scope-fix.tsx'

/** Findings that a trusted text keeps, since its reader does not see them. */
const NEVER_TRUSTED: readonly unknown[] = ['encoded_payload', 'invisible_characters']

/**
 * A false alarm: one text is trusted by its hash, or, one step further, its pattern is ignored in the scope. The log has only an excerpt and
 * a keyed hash of the text; what is longer than the excerpt has to be given again, and must be the same.
 */
export function TrustText({
  entry,
  call,
  scopes,
  onClose,
}: {
  entry: FixableEntry
  call: FixedCall
  scopes: readonly Scope[]
  onClose: () => void
}) {
  const { data } = entry
  const { text_hash: logged, matched_text, pattern, category } = data
  const name = textOf(data['pattern_name'])
  const place = textOf(data['location'])
  const speaker = textOf(data['speaker'] ?? 'user')
  const excerpt = typeof matched_text === 'string' ? matched_text : ''
  const mayTrust = typeof logged === 'string' && !NEVER_TRUSTED.includes(category)
  const [given, setGiven] = useState('')
  const whole = useHash(mayTrust ? excerpt : null)
  const supplied = useHash(mayTrust && given !== '' ? given : null)
  const isWhole = isSame(whole, logged)
  const hash = isWhole ? whole : isSame(supplied, logged) ? supplied : null
  const trust = trustFix(
    hash?.ok === true ? hash.value.text_hash : null,
    typeof data['speaker'] === 'string' ? speaker : null,
  )
  const wider = typeof pattern === 'string' ? customPatternFix(pattern) : patternFix(name)
  const problem = [whole, supplied].find((one) => one?.ok === false)
  return (
    <ScopeFix
      title="Not an attack"
      call={call}
      scopes={scopes.filter(({ injection_detection: { enabled } }) => enabled)}
      options={mayTrust ? [trust, wider] : [wider]}
      isTried={false}
      chosenAbout={(option) =>
        option.words === trust.words && whole !== null && !isWhole ? (
          <Supplied
            location={place}
            given={given}
            isSame={given === '' || supplied === null ? null : isSame(supplied, logged)}
            onGiven={setGiven}
          />
        ) : null
      }
      onClose={onClose}
    >
      <pre class="call" tabIndex={0} aria-label="Found text">
        <mark>{excerpt}</mark>
      </pre>
      <p>
        Found by the pattern <code>{name}</code> in {place}, in the words of:{' '}
        {speaker.replaceAll('_', ' ')}.
        {!mayTrust &&
          ' Hidden or encoded text, and a text with several speakers, cannot be trusted by itself.'}
      </p>
      <RefusedBefore
        entry={entry}
        what={mayTrust ? 'this text' : 'this pattern'}
        isLike={(one) =>
          mayTrust ? one.data['text_hash'] === logged : one.data['pattern_name'] === name
        }
      />
      <ProblemNotice problem={problem?.ok === false ? problem.problem : null} />
    </ScopeFix>
  )
}

const Supplied = ({
  location,
  given,
  isSame: isEqual,
  onGiven,
}: {
  location: string
  given: string
  isSame: boolean | null
  onGiven: (text: string) => void
}) => (
  <>
    <TextArea
      label={`The whole text of ${location}`}
      hint="The log keeps only the excerpt above. Paste the text as the agent has sent it, without its JSON escapes."
      value={given}
      onValue={onGiven}
      rows={5}
    />
    <p role="status">
      {isEqual === true && 'This is the text that was found.'}
      {isEqual === false && 'This is another text than the one that was found.'}
    </p>
  </>
)

type Hash = ApiAnswer<Pick<ScanReport, 'text_hash' | 'logged_hash'>>

const isSame = (hash: Hash | null, logged: unknown): boolean =>
  hash?.ok === true && hash.value.logged_hash === logged

/** The hash of a text as `trusted_texts` has it, and as the log has it; the service alone knows the key of the latter. */
function useHash(text: string | null): Hash | null {
  const [found, setFound] = useState<{ readonly of: string; readonly hash: Hash } | null>(null)
  const settled = useSettled(text ?? '')
  useEffect(() => {
    let isOver = false
    if (settled === '') return
    void ask<ScanReport>('POST', '/admin/scan', { body: { body: settled } }).then((hash) => {
      if (!isOver) setFound({ of: settled, hash })
    })
    return () => {
      isOver = true
    }
  }, [settled])
  return text !== null && text !== '' && found?.of === text ? found.hash : null
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
