import { SPEAKERS, type Speaker } from '../../catalogue/model.ts'
import { type Reading, type Shape, SHAPES } from './shapes.ts'

/** An object or array around a text, as far as a shape asks. */
export type Level = {
  readonly isObject: boolean
  key: string
  index: number
  /** Each member by its name in lower case: the name, and the value if it may name a speaker. */
  readonly members: Map<string, { readonly name: string; tag: string | null }>
  /** Readers may see other members: a name occurs twice, in any case, or has escapes or letters beyond ASCII. */
  isAmbiguous: boolean
}

/** A step from a level to a text in it. */
export type TrailStep = { readonly level: Level; readonly key: string }

export type Spoken = {
  readonly speaker: Speaker
  /** A chat template may have made the text of several turns. */
  readonly is_template: boolean
  /** Whether the request is one of a known API. */
  readonly is_known: boolean
}

const USER: Spoken = { speaker: 'user', is_template: false, is_known: true }
export const OF_NO_API: Spoken = { ...USER, is_known: false }

/** The speaker whose words count for less. */
export const stricter = (a: Speaker, b: Speaker): Speaker =>
  SPEAKERS.indexOf(a) > SPEAKERS.indexOf(b) ? a : b

const spoken = (reading: Speaker | 'template' | undefined): Spoken =>
  reading === undefined || reading === 'template'
    ? { ...USER, is_template: reading === 'template' }
    : { ...USER, speaker: reading }

const has = ({ members }: Level, name: string): boolean =>
  members.get(name.toLowerCase())?.name === name

/** A speaker that is named by anything but a string without escapes. */
const UNREAD = '?'

const inObject = (
  reading: Exclude<Reading, string>,
  level: Level,
  key: string,
): Reading | undefined => {
  if (reading.cases !== undefined) {
    const tag = reading.by?.find((name) => has(level, name))
    const value = tag === undefined ? '' : (level.members.get(tag)?.tag ?? UNREAD)
    const chosen = Object.hasOwn(reading.cases, value) ? reading.cases[value] : undefined
    // A case is read from the same object on.
    if (typeof chosen === 'object') return inObject(chosen, level, key)
    if (chosen !== undefined) return chosen
  }
  const { members } = reading
  return members !== undefined && Object.hasOwn(members, key) ? members[key] : undefined
}

/** Who speaks at the end of a trail from the root of a body with this shape. Whatever is not certain is the user. */
export const speakerOf = (shape: Shape, trail: readonly TrailStep[]): Spoken => {
  let reading: Reading | undefined = shape.root
  for (const { level, key } of trail) {
    if (typeof reading === 'string') return spoken(reading)
    if (reading === undefined) return USER
    if (!level.isObject) reading = reading.each
    else if (level.isAmbiguous) return USER
    else reading = inObject(reading, level, key)
  }
  return typeof reading === 'object' ? spoken(reading.text) : spoken(reading)
}

/** Of a body whose target is not known: the shape that names most of its members. */
const likeliest = (root: Level): Shape | null => {
  let best: Shape | null = null
  let most = 0
  for (const shape of SHAPES) {
    const named = typeof shape.root === 'object' ? Object.keys(shape.root.members ?? {}) : []
    const score = named.filter((name) => has(root, name)).length + (fits(shape, root) ? 0.5 : 0)
    if (score <= most) continue
    most = score
    best = shape
  }
  return best
}

const fits = ({ requires }: Shape, root: Level): boolean =>
  requires.every((name) => has(root, name))

/** The shape of a body by the members of its root; null if it is that of no known API. */
export const shapeOf = (
  shapes: readonly Shape[] | 'any',
  root: Level | undefined,
): Shape | null => {
  if (root === undefined || !root.isObject || root.isAmbiguous) return null
  return shapes === 'any' ? likeliest(root) : (shapes.find((shape) => fits(shape, root)) ?? null)
}
