import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { Guard, Write } from '../../core/change/commit.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import type { Audit, Refusal } from '../http/outcome.ts'
import type { ListSource } from './list-page.ts'
import type { Stored } from './records.ts'

/** The parameters of a path. */
export type Params = Readonly<Record<string, string>>
/** What a caller sees of a record. */
export type View = Readonly<Record<string, unknown>>

/** Where the records of a resource are. */
export interface Store<R> {
  /** The hash id → record that a record is in. */
  readonly hashOf: (record: R) => string
  /** The sorted set of ids by the epoch of creation that lists a record. */
  readonly indexOf: (record: R) => string
  /** The index that a call lists. */
  readonly indexFor: (call: AdminCall<Params>) => string
  /** Null when there is none, or when the path names another owner. */
  readonly find: (call: AdminCall<Params>, id: string) => Promise<Stored<R> | null>
  /** In the order of the ids; null where there is none. */
  readonly read: (redis: RedisClient, org: string, ids: readonly string[]) => Promise<(R | null)[]>
}

/** What a change does in addition to writing its record. */
interface Further {
  readonly guards?: readonly Guard[]
  readonly writes?: readonly Write[]
  readonly targets?: readonly ControlTarget[]
  /** Members that the activity log shows in addition to those of the view. */
  readonly note?: Readonly<Record<string, unknown>>
  /** Sentences that the answer has as `warnings`, for what is stored and will not work as it is. */
  readonly warnings?: readonly string[]
}

export interface Made<R> extends Further {
  readonly kind: 'made'
  readonly record: R
  /** What the answer has and no read ever shows: the key that was made. */
  readonly shown_once?: Readonly<Record<string, unknown>>
  readonly about?: About
}

export interface Edited<R> extends Further {
  readonly kind: 'edited'
  readonly record: R
}

export interface Removed<R> extends Further {
  readonly kind: 'removed'
  /** Set where the record stays and is only marked; null where it already is, and there is nothing to do. */
  readonly remains?: R | null
  /** Cleanup that may fail without harm. */
  readonly afterwards?: () => Promise<void>
}

/** Whom and what an activity entry is about. */
type About = Pick<Audit, 'agent_id' | 'agent_name' | 'key_id' | 'integration_id' | 'scope_id'>

interface Create<R, New extends TSchema> {
  readonly summary: string
  readonly body: New
  /** The schema of the answer; the view where it is left out. */
  readonly answer?: TSchema
  make(call: AdminCall<Params, unknown, Static<New>>): Promise<Made<R> | Refusal>
}

/** Which records of the index are meant. */
export type Narrowed<R> = Pick<ListSource<R>, 'matches' | 'among'>

interface List<R, Query extends TProperties> {
  readonly summary: string
  /** Query parameters in addition to those of paging. */
  readonly query?: Query
  narrow?(
    call: AdminCall<Params, Static<TObject<Query>>>,
  ): Promise<Narrowed<R> | Refusal> | Narrowed<R> | Refusal
}

/** A JSON merge patch (RFC 7396). What comes of the merge is checked by `schema`. */
export interface Edit<R, Editable extends TObject> {
  readonly summary: string
  readonly methods: readonly ('PUT' | 'PATCH')[]
  readonly schema: Editable
  /** The members of the body where they differ from `schema`. */
  readonly body?: TObject
  /** Members that never change; a patch may repeat them as they were read. */
  readonly read_only: readonly string[]
  /** Members that change by themselves; a patch may hold any value, as what it repeats may be out of date. */
  readonly moving?: readonly string[]
  /** Members that a read does not show as they are stored: only a patch has them. As they were read they change nothing. */
  readonly write_only?: readonly string[]
  /** Members that are replaced instead of merged. */
  readonly whole?: readonly string[]
  /** Members in which null is a value; elsewhere it restores the default. */
  readonly nullable?: readonly string[]
  readonly defaults?: View
  apply(edit: {
    readonly call: AdminCall<Params>
    readonly record: R
    readonly value: Static<Editable>
    /** As it was sent. */
    readonly patch: View
  }): Promise<Edited<R> | Refusal> | Edited<R> | Refusal
}

interface Remove<R, Query extends TObject> {
  readonly summary: string
  readonly query?: Query
  /** What the audit entry calls it, `delete` where it is left out. */
  readonly verb?: string
  plan?(
    call: AdminCall<Params, Static<Query>>,
    record: R,
  ): Promise<Removed<R> | Refusal> | Removed<R> | Refusal
}

/** What every change of a resource needs to know of it, special verbs included. */
export interface ResourceKind<R> {
  /** In the singular, as audit entries begin: `scope.update`. */
  readonly name: string
  /** The member with the id, which is also the name of the path parameter. */
  readonly id: keyof R & string
  readonly store: Store<R>
  readonly show: (
    call: AdminCall,
    records: readonly R[],
  ) => Promise<readonly View[]> | readonly View[]
  /** A view as the activity log may hold it; all of it where it is left out. */
  readonly audited?: (view: View) => View
  readonly about?: (record: R) => About
  /** What edges must drop when a record is new, changed or gone. */
  readonly targets: (record: R) => readonly ControlTarget[]
}

/**
 * A resource of the API, declared once: `defineResource` makes its routes of it. Special verbs are routes of their own.
 */
export interface Resource<
  R,
  New extends TSchema,
  Query extends TProperties,
  Editable extends TObject,
  RemoveQuery extends TObject,
> extends ResourceKind<R> {
  readonly tag: string
  readonly path: `/admin/${string}` | '/webhooks'
  /** The schema of the path parameters before the id. */
  readonly params?: TProperties
  /** The least role that reads it, `viewer` where it is left out; changes need `admin`. */
  readonly read_role?: Route['role']
  readonly access?: Pick<Route, 'organization_key' | 'deployment_wide'>
  readonly view: TSchema
  readonly create: Create<R, New>
  readonly list: List<R, Query>
  readonly read: { readonly summary: string }
  readonly edit?: Edit<R, Editable>
  readonly remove: Remove<R, RemoveQuery>
}

/** Any resource, for code that treats all alike. */
export type AnyResource<R> = Resource<R, TSchema, TProperties, TObject, TObject>
export type AnyEdit<R> = Edit<R, TObject>
