import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** The head of /openapi.json; paths and schemas come from the routes, which validate by the same ones. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Agent Access Gateway',
      version: '1',
      description:
        'The API of operators. Lists are `{data, next_cursor}`; changes are in force on every edge when the answer arrives.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    components: {
      securitySchemes: {
        admin_token: { type: 'http', scheme: 'bearer' },
        organization_key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the organization whose uses have `webhooks`.',
        },
      },
    },
  },
}
