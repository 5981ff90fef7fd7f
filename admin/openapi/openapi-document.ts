import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** The head of /openapi.json; paths and schemas come from the routes, which validate with the same schemas. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  transformObject: (found) => {
    if (!('openapiObject' in found)) return found.swaggerObject
    for (const path of Object.values(found.openapiObject.paths ?? {}))
      for (const call of Object.values(path ?? {})) markBody(call as Operation)
    return found.openapiObject
  },
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Agent Access Gateway',
      version: '1',
      description:
        'The admin API. Lists are `{data, next_cursor}`. A change is in force on every edge when its response is sent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    components: {
      securitySchemes: {
        admin_token: { type: 'http', scheme: 'bearer' },
        organization_key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An organization API key whose uses include `webhooks`.',
        },
      },
    },
  },
}

interface Operation {
  readonly requestBody?: {
    required?: boolean
    readonly content: Readonly<
      Record<string, { readonly schema?: { readonly required?: readonly string[] } }>
    >
  }
}

/** An empty body is an empty object, so a body is required if a member is. */
function markBody({ requestBody }: Operation): void {
  if (requestBody === undefined) return
  requestBody.required = Object.values(requestBody.content).some(
    ({ schema }) => (schema?.required ?? []).length > 0,
  )
}
