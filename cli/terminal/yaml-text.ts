import { type Document, visit } from 'yaml'
import { isSteering, terminalYaml } from './terminal-text.ts'

/** YAML for people to read and edit. Characters that could steer the terminal are escaped within double quotes. */
export function yamlText(doc: Document): string {
  visit(doc, {
    Scalar: (_, scalar) => {
      const { value } = scalar
      if (typeof value === 'string' && isSteering(value.replaceAll('\n', '')))
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return doc
    .toString({ lineWidth: 0, flowCollectionPadding: false })
    .split('\n')
    .map(terminalYaml)
    .join('\n')
}
