import type { Server, ServiceDefinition } from '@grpc/grpc-js'

/** grpc.health.v1.HealthCheckResponse, whose one field is 1 for SERVING and 2 for NOT_SERVING. */
const SERVING = Buffer.from([8, 1])
const NOT_SERVING = Buffer.from([8, 2])

const same = (bytes: Buffer): Buffer => bytes

const HEALTH: ServiceDefinition = {
  Check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestDeserialize: same,
    requestSerialize: same,
    responseDeserialize: same,
    responseSerialize: same,
  },
}

/** Answers Envoy's active health checks (grpc.health.v1), one answer for the whole server. */
export function addHealthService(server: Server, isServing: () => boolean): void {
  server.addService(HEALTH, {
    Check: (_call: unknown, answer: (error: null, message: Buffer) => void) =>
      answer(null, isServing() ? SERVING : NOT_SERVING),
  })
}
