import { useState } from 'preact/hooks'

/** Copies a text. Without https or loopback the browser has no clipboard; then the text is shown to be selected. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'shown'>('idle')
  const copy = (): void => {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    copied.then(
      () => setState('copied'),
      () => setState('shown'),
    )
  }
  return (
    <>
      <button type="button" onClick={copy}>
        {state === 'copied' ? 'Copied' : label}
      </button>
      {state === 'shown' && <pre tabIndex={0}>{text}</pre>}
    </>
  )
}
