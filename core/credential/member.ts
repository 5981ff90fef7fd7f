/** The format of a text. `admin/integrations/auth-schema.ts` has the schema of each, `check-auth.ts` what a schema cannot express. */
export type TextKind =
  /** Visible ASCII: is put into a header as it is, or is the key of a signature. */
  | 'header_value'
  | 'header_name'
  | 'parameter_name'
  /** Is encoded before it is sent. */
  | 'text'
  /** Text without the colon, which ends a user name in Basic. */
  | 'user_name'
  | 'word'
  /** Text that may have line breaks. */
  | 'template'
  /** PEM; see private-key.ts. */
  | 'private_key'
  /** Absolute, http or https. The secrets of the credential may be sent to its origin as well. */
  | 'url'

export type Visibility = 'secret' | 'public'
export type Presence = 'required' | 'optional'

/** One member of a credential. Each is declared `secret` or `shown`, so the choice cannot be forgotten. */
export interface Member<V extends Visibility = Visibility, P extends Presence = Presence> {
  readonly visibility: V
  readonly presence: P
  readonly text: TextKind
  readonly may_be_empty: boolean
  /** Was stored in plaintext by an older version: such a record is read, and sealed when admin starts. */
  readonly was_public: boolean
  /** The texts that it may have; absent if it may have any. */
  readonly choices?: readonly string[]
}

export type Members = Readonly<Record<string, Member>>

type More = Partial<Pick<Member, 'may_be_empty' | 'was_public' | 'choices'>>

/** Sealed in the store. A read shows at most its last four characters; it appears nowhere else. */
export const secret = (text: TextKind, more: More = {}): Member<'secret', 'required'> => ({
  ...member(text, more),
  visibility: 'secret',
  presence: 'required',
})

export const optionalSecret = (text: TextKind): Member<'secret', 'optional'> => ({
  ...member(text, {}),
  visibility: 'secret',
  presence: 'optional',
})

/** Visible to every reader of the admin API, in the store, and in the activity log. It gives no access alone. */
export const shown = (
  text: TextKind,
  choices?: readonly string[],
): Member<'public', 'required'> => ({
  ...member(text, choices === undefined ? {} : { choices }),
  visibility: 'public',
  presence: 'required',
})

export const optionalShown = (
  text: TextKind,
  choices?: readonly string[],
): Member<'public', 'optional'> => ({
  ...member(text, choices === undefined ? {} : { choices }),
  visibility: 'public',
  presence: 'optional',
})

const member = (text: TextKind, { may_be_empty = false, was_public = false, ...more }: More) => ({
  text,
  may_be_empty,
  was_public,
  ...more,
})
