import { SHAPES, type Shape } from './shapes.ts'

export interface BodyTarget {
  /** Null: not known; the body is taken as sent to the API whose shape it has. */
  readonly method: string | null
  /** Of the base URL, without a slash at its end. */
  readonly base_path: string
  /** Below the base URL, as it was sent. */
  readonly path: string
  readonly content_type: string | null
}

const JSON_TYPE = /^\s*application\/json\s*(?:;\s*charset=utf-?8\s*)?$/i

/** The shapes that a JSON body sent to this target may have. */
export const shapesAt = (target: BodyTarget): readonly Shape[] | 'any' => {
  const { method, base_path, path, content_type } = target
  if (content_type !== null && !JSON_TYPE.test(content_type)) return []
  if (method === null) return 'any'
  if (method !== 'POST') return []
  // Wherever the base URL ends, the caller wrote only what stands behind it.
  const paths = [path]
  for (let at = base_path.lastIndexOf('/'); at >= 0; at = base_path.lastIndexOf('/', at - 1)) {
    paths.push(base_path.slice(at) + path)
    if (at === 0) break
  }
  return SHAPES.filter((shape) => paths.some((one) => shape.path.test(one)))
}
