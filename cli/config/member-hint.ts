import type { TSchema } from 'typebox'
import { nearestName } from './nearest-name.ts'
import { isObject, type Json, type Section } from './section-resources.ts'

const KILLS = ['status', 'killed_at', 'kill_reason']

interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

/** Of a member that the schema does not know, the known one that it may have been meant to be; else nothing. */
export function memberHint(kind: Section, schema: TSchema, item: Json, path: string): string {
  const segments = path.split('/').slice(1)
  const last = segments.pop() ?? ''
  const shape = shapeAt(schema, item, segments)
  if (shape?.properties === undefined || Object.hasOwn(shape.properties, last)) return ''
  if (kind === 'agents' && segments.length === 0 && KILLS.includes(last))
    return ': the configuration cannot kill or reactivate agents; use agw kill and agw reactivate'
  if (kind === 'connections' && segments.length === 0 && last === 'status')
    return ': the configuration cannot revoke connections; use the console'
  const near = nearestName(last, Object.keys(shape.properties))
  return near === null ? '' : `; did you mean ${near}?`
}

function shapeAt(schema: TSchema, item: unknown, segments: readonly string[]): Shape | null {
  let shape: Shape = schema
  let value = item
  for (const segment of segments) {
    const next = shape.properties?.[segment] ?? shape.items
    if (next === undefined) return null
    value = isObject(value) ? value[segment] : Array.isArray(value) ? value[Number(segment)] : null
    shape = chosen(next, value)
  }
  return shape
}

/** Of alternatives, the one whose literal `type` the value has. */
function chosen(schema: Shape, value: unknown): Shape {
  if (schema.anyOf === undefined || !isObject(value)) return schema
  const { type } = value
  return (
    schema.anyOf.find(
      (choice: Shape) =>
        (choice.properties?.['type'] as { const?: unknown } | undefined)?.const === type,
    ) ?? schema
  )
}
