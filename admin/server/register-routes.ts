import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Request, carryOut } from '../changes/carry-out.ts'
import { type KeptAnswers, requestIdentity } from '../changes/kept-answers.ts'
import { proofOfCaller } from '../access/proof-of-caller.ts'
import { signInWithSession } from '../access/sign-in-with-session.ts'
import { whileInForce } from '../access/while-in-force.ts'
import { checkRole, signIn } from '../access/sign-in.ts'
import { signInWithKey } from '../access/sign-in-with-key.ts'
import { type ListenerKind, sourceAddress } from '../access/source-address.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import { checkInput, prepareInput } from '../http/check-input.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import { ErrorSchema, errorReply } from '../http/error-reply.ts'
import {
  type Answer,
  type Issue,
  type Refusal,
  type Streamed,
  answer,
  invalid,
} from '../http/outcome.ts'
import type { RequestLoad } from '../context/request-load.ts'
import { readAnyBody } from '../http/read-any-body.ts'
import { isDryRun } from '../resources/dry-run.ts'
import { IDEMPOTENCY_KEY } from '../http/idempotency-key.ts'
import { readQuery } from '../http/read-query.ts'
import { sendCompressed } from '../http/send-compressed.ts'
import { sendStream } from '../http/send-stream.ts'

const IDEMPOTENCY_MESSAGE = 'must be 1 to 255 visible ASCII characters'
const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY.source,
      [PATTERN_MESSAGE]: IDEMPOTENCY_MESSAGE,
      description: 'For ten minutes, a repeated request with the same key gets the first response.',
    }),
  ),
})

const IfMatchHeader = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'The ETag from the last read. If the resource has been modified since, the response is 412.',
    }),
  ),
})

/** Puts each route behind sign-in, role and schema. One failure answers, in this order, before a handler runs. */
export function registerRoutes(
  app: FastifyInstance,
  context: AdminContext,
  kept: KeptAnswers,
  routes: readonly Route[],
  listener: ListenerKind,
): void {
  const ahead: TSchema[] = []
  const add = (on: FastifyInstance, route: Route): void => {
    for (const schema of [route.query, route.body, ...Object.values(route.answers)])
      if (schema !== undefined) ahead.push(schema)
    on.route({
      method: route.method,
      url: route.path,
      schema: documented(route),
      onRequest: async (request, reply) => {
        if (route.handleUnsigned && proofOfCaller(request.method, request.headers) !== null) return
        const actor = await authenticate(context, route, request, listener)
        if ('kind' in actor) return send(reply, actor, request.id)
        actors.set(request, actor)
      },
      handler: async (request, reply) => {
        let actor = actors.get(request)
        if (actor === undefined) {
          const done = await runUnsigned(context, route, request, listener)
          if ('kind' in done) return send(reply, checked(route, done), request.id)
          actor = done
        }
        const outcome = await run(context, kept, route, request, actor)
        if (outcome.kind === 'streamed')
          return sendStream(reply, whileInForce(context, actor, outcome), context.log)
        const answered = checked(route, outcome)
        return route.compressed && answered.kind === 'answer'
          ? await sendCompressed(reply, answered, request.headers['accept-encoding'])
          : send(reply, answered, request.id)
      },
    })
  }
  for (const route of routes) if (!route.forgiving) add(app, route)
  app.register(async (forgiving) => {
    readAnyBody(forgiving)
    for (const route of routes) if (route.forgiving) add(forgiving, route)
  })
  let timer: NodeJS.Timeout | undefined
  app.addHook('onListen', async () => {
    timer = setTimeout(() => void prepareAhead(context.load, ahead), PREPARE_AFTER_MS)
  })
  app.addHook('onClose', async () => clearTimeout(timer))
}

/** After a start there is more urgent work; a request that comes before compiles what it needs. */
const PREPARE_AFTER_MS = 10_000

/** Requests that come meanwhile go first, and have compiled what they need. */
const prepareAhead = (load: RequestLoad, schemas: readonly TSchema[]): Promise<void> =>
  load.each(schemas, prepareInput)

const actors = new WeakMap<FastifyRequest, Actor>()

/** Who makes the request: by session, organization key or admin token, with a role that the route takes. */
async function authenticate(
  context: AdminContext,
  route: Route,
  request: FastifyRequest,
  listener: ListenerKind,
): Promise<Actor | Refusal> {
  const { method, headers } = request
  const { authorization } = headers
  const source_ip = sourceAddress(request.raw, listener, context.settings.trustedHops)
  const known =
    (listener === 'api'
      ? await signInWithSession(context, { method, headers, source_ip })
      : null) ??
    (route.organization_key ? await signInWithKey(context, { authorization, source_ip }) : null)
  const actor =
    known ?? (await signIn(context, { authorization, source_ip, request_id: request.id }))
  if ('kind' in actor)
    return known === null && route.organization_key && actor.error === 'unauthorized'
      ? { ...actor, message: KEY_OR_TOKEN }
      : actor
  return checkRole(actor, route, context.settings.organizationId) ?? actor
}

const KEY_OR_TOKEN =
  'An admin token, or an organization key whose uses include "webhooks", is required. Send it as "Authorization: Bearer <KEY>".'

/** Carries a request out whose caller has not signed in; returns who it is if that has to be found out first. */
async function runUnsigned(
  context: AdminContext,
  route: Route,
  request: FastifyRequest,
  listener: ListenerKind,
): Promise<Answer | Refusal | Actor> {
  const proof = proofOfCaller(request.method, request.headers)
  const done =
    proof === null || route.handleUnsigned === undefined
      ? null
      : await route.handleUnsigned({
          context,
          params: request.params,
          query: request.query,
          body: request.body ?? '',
          headers: request.headers,
          request_id: request.id,
          proof,
          source_ip: sourceAddress(request.raw, listener),
        })
  return done ?? (await authenticate(context, route, request, listener))
}

async function run(
  context: AdminContext,
  kept: KeptAnswers,
  route: Route,
  request: FastifyRequest,
  actor: Actor,
): Promise<Answer | Refusal | Streamed> {
  const input = route.forgiving
    ? { params: request.params, query: request.query, body: request.body ?? '' }
    : readInput(route, request)
  if ('kind' in input) return input
  const idempotency_key = request.headers['idempotency-key']
  const identity =
    route.method === 'POST' && !route.forgiving && typeof idempotency_key === 'string'
      ? requestIdentity({
          idempotency_key,
          token_id: actor.token_id,
          organization_id: actor.organization_id,
          method: request.method,
          url: request.url,
          body: input.body,
        })
      : null
  const call: AdminCall = {
    context,
    actor,
    ...input,
    headers: request.headers,
    request_id: request.id,
  }
  const is_dry_run = isDryRun(call)
  const carried: Request = {
    actor,
    request_id: request.id,
    identity: is_dry_run ? null : identity,
    is_dry_run,
  }
  if (route.costly === undefined)
    return await carryOut(context, kept, carried, () => route.handle(call))
  const leave = await context.turns[route.costly].take(actor.organization_id, actor.token_id)
  if (leave === null) return TOO_MANY
  try {
    return await carryOut(context, kept, carried, () => route.handle(call))
  } finally {
    leave()
  }
}

const TOO_MANY: Refusal = {
  kind: 'refusal',
  error: 'too_many_requests',
  headers: { 'retry-after': '1' },
}

function readInput(
  route: Route,
  request: FastifyRequest,
): { params: unknown; query: unknown; body: unknown } | Refusal {
  const issues: Issue[] = []
  const check = (schema: Route['params'], value: unknown, prefix: string): void => {
    const result = schema === undefined ? { ok: true as const } : checkInput(schema, value, prefix)
    if (!result.ok) issues.push(...result.issues)
  }
  const query = readQuery(route.query ?? NO_QUERY, request.query)
  const given = request.body === undefined ? {} : request.body
  const body = route.body === undefined ? null : given
  check(route.query ?? NO_QUERY, query, 'query')
  check(route.body, body, '')
  const key = request.headers['idempotency-key']
  if (route.method === 'POST' && key !== undefined && !IDEMPOTENCY_KEY.test(String(key)))
    issues.push({
      path: 'headers/idempotency-key',
      message: IDEMPOTENCY_MESSAGE,
    })
  return issues.length > 0 ? invalid(issues) : { params: request.params, query, body }
}

const NO_QUERY = Type.Object({}, { additionalProperties: false })

/** An answer that its schema does not describe is a bug, and could show what must not be shown. */
function checked(route: Route, outcome: Answer | Refusal): Answer | Refusal {
  if (outcome.kind === 'refusal' || outcome.status === 204) return outcome
  const schema = route.answers[outcome.status]
  const body: unknown = JSON.parse(JSON.stringify(outcome.body))
  const result = schema === undefined ? { ok: false, issues: [] } : checkInput(schema, body)
  if (!result.ok)
    throw new Error(
      `the response of ${route.method} ${route.path} does not match its schema: ${JSON.stringify(result)}`,
    )
  return answer(outcome.status, body, outcome.headers)
}

function send(reply: FastifyReply, outcome: Answer | Refusal, request_id: string): FastifyReply {
  if (outcome.kind === 'refusal') {
    const { status, headers, body } = errorReply(outcome, request_id)
    return reply.code(status).headers(headers).send(body)
  }
  const reply_ = reply.code(outcome.status).headers(outcome.headers ?? {})
  return outcome.status === 204 ? reply_.send() : reply_.send(outcome.body)
}

function answersOf({ answers, produces }: Route): object {
  const schema = answers[200]
  if (produces === undefined || schema === undefined) return answers
  const { description = '' } = schema as { description?: string }
  const content = Object.fromEntries(produces.map((type) => [type, { schema }]))
  return { ...answers, 200: { description, content } }
}

function documented(route: Route): object {
  const { method, forgiving, repeatable, tag, summary, params, query, body, role } = route
  return {
    tags: [tag],
    summary,
    description: `Role: ${role}.`,
    security: [{ admin_token: [] }, ...(route.organization_key ? [{ organization_key: [] }] : [])],
    ...(params ? { params } : {}),
    ...(query ? { querystring: query } : {}),
    ...(body ? { body } : {}),
    ...(method === 'POST' && (!forgiving || repeatable) ? { headers: IdempotencyHeader } : {}),
    ...(route.conditional ? { headers: IfMatchHeader } : {}),
    response: { ...answersOf(route), '4xx': ErrorSchema, '5xx': ErrorSchema },
  }
}
