import type { RuleApproval, Scope } from '../catalogue/model.ts'

/** A rule that asks for an approval. */
export interface AskingRule {
  readonly scope: Scope
  /** Position of the rule in its scope, from 0. */
  readonly rule: number
}

/** What a person has to allow before a call is made. */
export interface NeededApproval extends RuleApproval {
  /** In the order of their scopes. */
  readonly by: readonly AskingRule[]
}

/** The strictest of what several rules ask for; null if none asks. An approval of several rules counts for one call only. */
export function mergeApprovals(by: readonly AskingRule[]): NeededApproval | null {
  let merged: RuleApproval | null = null
  for (const { scope, rule } of by) {
    const asked = scope.rules[rule]?.approval
    if (asked !== undefined) merged = merged === null ? asked : strictest(merged, asked)
  }
  return merged === null ? null : { ...merged, by }
}

const strictest = (a: RuleApproval, b: RuleApproval): RuleApproval => ({
  wait_seconds: Math.min(a.wait_seconds, b.wait_seconds),
  valid_seconds: Math.min(a.valid_seconds, b.valid_seconds),
  approvers: a.approvers === 'admin' ? 'admin' : b.approvers,
  needed: Math.max(a.needed, b.needed),
  reuse: 'once',
})

/** Whether two calls ask the same rules. */
export const isSameApproval = (a: NeededApproval | null, b: NeededApproval | null): boolean =>
  a === b || (a !== null && b !== null && namesOf(a) === namesOf(b))

const namesOf = ({ by }: NeededApproval): string =>
  by.map(({ scope, rule }) => `${scope.scope_id} ${rule}`).join()
