import { linkTo } from '../place.ts'
import { TIME_RANGES } from '../time-ranges.ts'

/** Links that set the range of the page. */
export const TimePresets = ({
  parts,
  query,
  current,
}: {
  parts: readonly string[]
  query: Readonly<Record<string, string | undefined>>
  /** Null when another range was chosen. */
  current: string | null
}) => (
  <nav class="presets" aria-label="Time range">
    {TIME_RANGES.map(({ key, title }) => (
      <a
        key={key}
        href={linkTo(parts, { ...query, range: key, from: undefined, to: undefined })}
        aria-current={key === current ? 'true' : undefined}
      >
        {title}
      </a>
    ))}
  </nav>
)
