import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'

type Schema = Record<string, any>

/** Their API descriptions say `string`; the API server takes both. */
const NUMBER_OR_TEXT = [
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
]

/**
 * Writes a JSON schema for each kind, as kubeconform names them, from the OpenAPI documents of an API server and from custom
 * resource definitions. Unknown members are errors.
 * @returns how many kinds there are
 */
export function writeSchemas(apis: string, definitions: readonly string[], folder: string): number {
  mkdirSync(folder, { recursive: true })
  let kinds = 0
  const write = (kind: string, group: string, version: string, schema: Schema): void => {
    const suffix = group === '' ? version : `${group.split('.')[0]}-${version}`
    writeFileSync(join(folder, `${kind.toLowerCase()}-${suffix}.json`), JSON.stringify(schema))
    kinds++
  }
  const documents = readdirSync(apis, { recursive: true, encoding: 'utf8' })
  for (const file of documents.filter((name) => name.endsWith('.json'))) {
    const { components } = JSON.parse(readFileSync(join(apis, file), 'utf8')) as Schema
    const schemas = components?.schemas as Record<string, Schema>
    for (const name of NUMBER_OR_TEXT)
      if (schemas[name] !== undefined) schemas[name] = { type: ['string', 'number'] }
    closeObjects(schemas)
    for (const [name, schema] of Object.entries(schemas))
      for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
        if (version === basename(file, '.json'))
          write(kind, group, version, { $ref: `#/components/schemas/${name}`, components })
  }
  for (const file of definitions) {
    const { spec } = parse(readFileSync(file, 'utf8')) as Schema
    for (const { name, schema } of spec.versions) {
      const own = schema.openAPIV3Schema as Schema
      closeObjects(own)
      own['properties'].metadata = {}
      write(spec.names.kind, spec.group, name, own)
    }
  }
  return kinds
}

/** An object with named members has no others, unless it says so. */
function closeObjects(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(closeObjects)
  if (typeof node !== 'object' || node === null) return
  const schema = node as Schema
  if (schema['x-kubernetes-int-or-string'] === true) schema['type'] = ['string', 'integer']
  for (const value of Object.values(schema)) closeObjects(value)
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (isObject(schema['properties']) && !('additionalProperties' in schema) && !isOpen)
    schema['additionalProperties'] = false
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
