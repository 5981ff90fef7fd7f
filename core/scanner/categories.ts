export type Severity = 'critical' | 'high' | 'medium'

interface CategoryRow {
  /** Fixed by the specification; `custom` and learned findings are `high`. */
  readonly severity: Severity
  /** What finds it: the expressions of `patterns/`, one of them in everyday wording, code of the scanner, the learned model, or an operator's patterns. */
  readonly found_by: 'expression' | 'weakened' | 'code' | 'model' | 'operator'
  /**
   * Whether a sentence that forbids or reports it is harmless: "never reveal your system prompt". False where the negation
   * is the attack itself: "never refuse".
   */
  readonly may_be_ruled_out: boolean
}

/** Every category of findings. A new one has at least one pattern; a test holds this. */
export const CATEGORIES = {
  instruction_override: { severity: 'critical', found_by: 'expression', may_be_ruled_out: true },
  system_prompt_extraction: {
    severity: 'critical',
    found_by: 'expression',
    may_be_ruled_out: true,
  },
  role_manipulation: { severity: 'critical', found_by: 'expression', may_be_ruled_out: true },
  credential_extraction: { severity: 'critical', found_by: 'expression', may_be_ruled_out: true },
  shell_injection: { severity: 'critical', found_by: 'expression', may_be_ruled_out: false },
  role_change: { severity: 'high', found_by: 'expression', may_be_ruled_out: false },
  jailbreak: { severity: 'high', found_by: 'expression', may_be_ruled_out: false },
  data_exfiltration: { severity: 'high', found_by: 'expression', may_be_ruled_out: true },
  custom: { severity: 'high', found_by: 'operator', may_be_ruled_out: false },
  learned: { severity: 'high', found_by: 'model', may_be_ruled_out: false },
  encoded_payload: { severity: 'medium', found_by: 'code', may_be_ruled_out: false },
  invisible_characters: { severity: 'medium', found_by: 'code', may_be_ruled_out: false },
  /** What people say to each other too: wording of another category without a sign that a model is meant. */
  suspicious_wording: { severity: 'medium', found_by: 'weakened', may_be_ruled_out: true },
  persona_request: { severity: 'medium', found_by: 'expression', may_be_ruled_out: false },
} as const satisfies Record<string, CategoryRow>

export type Category = keyof typeof CATEGORIES

/** The categories that can be detected. */
export type CategoryFoundBy<By extends CategoryRow['found_by']> = {
  [Name in Category]: (typeof CATEGORIES)[Name]['found_by'] extends By ? Name : never
}[Category]
