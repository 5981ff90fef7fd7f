import type { ActivityEntry } from '../api-types.ts'

/** The call, with the text that the scanner found marked: in the path if it is there, else in its excerpt. */
export function EntryCall({ entry }: { entry: ActivityEntry }) {
  const { method, endpoint, data } = entry
  if (method === null) return null
  const { matched_text: matched, location } = data
  const found = typeof matched === 'string' ? matched : null
  const isInPath = found !== null && (endpoint ?? '').includes(found)
  return (
    <pre class="call" tabIndex={0}>
      {method} {isInPath ? <Marked text={endpoint ?? ''} part={found} /> : endpoint}
      {found !== null && !isInPath && (
        <>
          {'\n\n'}
          {typeof location === 'string' ? location : 'text'}: … <mark>{found}</mark> …
        </>
      )}
    </pre>
  )
}

function Marked({ text, part }: { text: string; part: string }) {
  const at = text.indexOf(part)
  return (
    <>
      {text.slice(0, at)}
      <mark>{part}</mark>
      {text.slice(at + part.length)}
    </>
  )
}
