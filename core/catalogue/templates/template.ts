import type { ErrorFormat } from '../error-formats.ts'

/** What an agent may do with an API, in the three steps in which it is usually granted. */
export const TEMPLATE_ACTIONS = ['read', 'write', 'admin'] as const
export type TemplateAction = (typeof TEMPLATE_ACTIONS)[number]

/** A well-known API as data. Commands expand it when it is applied; at run time it does not exist. */
export interface ApiTemplate {
  readonly name: string
  readonly title: string
  /** With `{parameter}` where it differs from one customer to the next. */
  readonly base_url: string
  /** What each parameter is, with an example. */
  readonly parameters?: Readonly<Record<string, string>>
  /** The type of the credential, and its members that are not secret; these may have parameters too. */
  readonly auth: { readonly type: string } & Readonly<Record<string, string>>
  /** The usual environment variable of each secret member. */
  readonly secrets: Readonly<Record<string, string>>
  /** Consent at the provider in place of these secrets: its pinned endpoints, and the rights that each action needs there. */
  readonly oauth?: {
    readonly authorization_url: string
    readonly token_url: string
    /** If it says whose an answer is (RFC 9207). */
    readonly issuer?: string
    readonly scopes: Partial<Readonly<Record<TemplateAction, readonly string[]>>>
    readonly separator: ' ' | ','
  }
  /** Proposed, never set silently: it changes what agents receive. */
  readonly error_format?: ErrorFormat
  readonly also_hosts?: readonly {
    readonly host: string
    readonly methods?: readonly string[]
    readonly paths?: readonly string[]
  }[]
  readonly allow_encoded_slashes?: true
  /** Rules on one line each, `GET,HEAD /models/**`, below the base URL. */
  readonly actions: Partial<Readonly<Record<TemplateAction, readonly string[]>>>
  /** Granted unless the operator chooses others; default: the first of them. A model is asked by a POST. */
  readonly proposed_actions?: readonly TemplateAction[]
  /** What an approver reads of a call, by `METHOD /path` below the base URL; the first that fits counts. */
  readonly words?: Readonly<Record<string, string>>
  /** MCP tools that an action allows, where the API is an MCP server. */
  readonly mcp_tools?: Partial<Readonly<Record<TemplateAction, readonly string[]>>>
  /** The public description that `npm run bench -- templates` compares the actions with; or why there is none. */
  readonly description: TemplateDescription
}

export type TemplateDescription =
  | {
      /** A pinned package, and its files that have the methods and paths. */
      readonly npm?: string
      readonly pypi?: string
      readonly files: string
      /** What the paths of the description have and those of the actions have not; default: nothing. */
      readonly prefix?: string
    }
  | { readonly none: string }
