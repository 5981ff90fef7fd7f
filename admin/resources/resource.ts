import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { RecordChange, RecordName } from '../../core/activity/words-of-action.ts'
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { Guard, Write } from '../../core/change/commit.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { EdgeMember } from '../../core/store/edge-members.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import type { Audit, Refusal } from '../http/outcome.ts'
import type { ListSource } from './list-page.ts'
import type { Listed, Stored } from './records.ts'

export type Params = Readonly<Record<string, string>>
/** A record as the API shows it. */
export type View = Readonly<Record<string, unknown>>

/** Where the records of a resource are stored. */
export interface Store<R> {
  /** The hash id → record that a record is in. */
  readonly hashOf: (record: R) => string
  /** The sorted set of ids by the epoch of creation that lists a record. */
  readonly indexOf: (record: R) => string
  /** The index that a call lists. */
  readonly indexFor: (call: AdminCall<Params>) => string
  /** Null if it does not exist or the path names another owner. */
  readonly find: (call: AdminCall<Params>, id: string) => Promise<Stored<R> | null>
  /** In the order of the ids. */
  readonly read: (redis: RedisClient, org: string, ids: readonly string[]) => Promise<Listed<R>[]>
}

/** What a change does in addition to writing its record. */
interface Further {
  readonly guards?: readonly Guard[]
  readonly writes?: readonly Write[]
  readonly targets?: readonly ControlTarget[]
  /** Members that the activity log shows in addition to those of the view. */
  readonly note?: Readonly<Record<string, unknown>>
  /** Members that only the response has: what the change gives and takes. */
  readonly effects?: Readonly<Record<string, unknown>> | null
  /** Messages for the member `warnings` of the response: the record is stored but will not work. */
  readonly warnings?: readonly string[]
}

export interface Made<R> extends Further {
  readonly kind: 'made'
  readonly record: R
  /** Members that only this response contains: the new key. */
  readonly shown_once?: Readonly<Record<string, unknown>>
  readonly about?: About
}

export interface Edited<R> extends Further {
  readonly kind: 'edited'
  readonly record: R
}

export interface Removed<R> extends Further {
  readonly kind: 'removed'
  /** Set if the record is only marked; null if it is already marked. */
  readonly remains?: R | null
  /** Cleanup that may fail without harm. */
  readonly afterwards?: () => Promise<void>
}

/** The subject of an activity entry. */
type About = Pick<Audit, 'agent_id' | 'agent_name' | 'key_id' | 'integration_id' | 'scope_id'>

interface Create<R, New extends TSchema> {
  readonly summary: string
  readonly body: New
  /** The schema of the response; default: the view. */
  readonly answer?: TSchema
  /** @param id for the record, if several are created and their ids have to be in order */
  make(call: AdminCall<Params, unknown, Static<New>>, id?: string): Promise<Made<R> | Refusal>
  /** Limits that records of this request could exceed together with those that are stored. */
  check?(call: AdminCall<Params>, records: readonly R[]): Promise<Refusal | null>
  readonly bulk?: Bulk
}

/** The creation of up to BULK_LIMIT records in one change. */
export interface Bulk {
  readonly summary: string
  readonly path: `/admin/${string}`
  /** Of their ids. */
  readonly prefix: string
}

/** Selects records of the index. */
export type Narrowed<R> = Pick<ListSource<R>, 'matches' | 'among'>

interface List<R, Query extends TProperties> {
  readonly summary: string
  readonly compressed?: Route['compressed']
  /** Query parameters in addition to those of paging. */
  readonly query?: Query
  narrow?(
    call: AdminCall<Params, Static<TObject<Query>>>,
  ): Promise<Narrowed<R> | Refusal> | Narrowed<R> | Refusal
}

/** A JSON merge patch (RFC 7396). The merged record is validated by `schema`. */
export interface Edit<R, Editable extends TObject> {
  readonly summary: string
  readonly methods: readonly ('PUT' | 'PATCH')[]
  readonly schema: Editable
  /** The members of the body where they differ from `schema`. */
  readonly body?: TObject
  /** Members that never change; a patch may repeat them as they were read. */
  readonly read_only: readonly string[]
  /** Members that change by themselves; a patch may contain any value, since it may be out of date. */
  readonly moving?: readonly string[]
  /** Members that a read masks; sent back as they were read, they change nothing. */
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
  /** The verb of the audit entry; default `delete`. */
  readonly verb?: RecordChange
  plan?(
    call: AdminCall<Params, Static<Query>>,
    record: R,
  ): Promise<Removed<R> | Refusal> | Removed<R> | Refusal
}

/** The properties of a resource that every change needs, including special verbs. */
export interface ResourceKind<R> {
  /** In the singular, as audit entries begin: `scope.update`. */
  readonly name: RecordName
  /** The member with the id, which is also the name of the path parameter. */
  readonly id: keyof R & string
  readonly store: Store<R>
  readonly show: (
    call: AdminCall,
    records: readonly R[],
  ) => Promise<readonly View[]> | readonly View[]
  /** The view for the activity log; default: the whole view. */
  readonly audited?: (view: View) => View
  readonly about?: (record: R) => About
  /** Cache entries that edges must drop when a record is created, changed or deleted. */
  readonly targets: (record: R) => readonly ControlTarget[]
  /** The event of a change, for the webhooks that subscribe to it. */
  readonly event?: (
    call: AdminCall,
    record: R,
    change: 'created' | 'updated' | 'deleted',
  ) => ActivityEntry
  /** The members of a record that older edges would ignore in the caller's favour. */
  readonly needs?: (record: R) => readonly EdgeMember[]
}

/**
 * A resource of the API, declared once: `defineResource` derives its routes. Special verbs have routes of their own.
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
  /** The minimum role for reads, default `viewer`; changes require `admin`. */
  readonly read_role?: Route['role']
  readonly access?: Pick<Route, 'organization_key' | 'deployment_wide'>
  readonly view: TSchema
  readonly create: Create<R, New>
  readonly list: List<R, Query>
  readonly read: { readonly summary: string }
  readonly edit?: Edit<R, Editable>
  readonly remove: Remove<R, RemoveQuery>
}

/** Any resource, for generic code. */
export type AnyResource<R> = Resource<R, TSchema, TProperties, TObject, TObject>
export type AnyEdit<R> = Edit<R, TObject>
