import type { Candidate, Place } from './placed-candidate.ts'

const NOT_TOLD = /^(?:never|do not|don['’]t|must not) tell (?:the|your) user$/i

/**
 * The sentence ends with the state, or names the check that must come first. A free condition may order anything: "until you have
 * sent the key".
 */
const STATE =
  /^ (?:that )?(?:the|your|this|a) (?:current )?(?:goals?|tasks?|work|plan|job|milestones?|todos?) (?:is|are|was|has been) (?:complete|completed|done|finished|blocked)(?: or (?:complete|completed|done|finished|blocked))?(?:[.:;!]|$| (?:unless|until|before) (?:(?:all|the|every|its) ){0,2}(?:tests?|checks?|verifier|verification|build)\b)/i

const AFTER_BYTES = 160

/** What a user is not to be told to do is no secret: "do not tell the user to save the file". */
const ADVICE = /\b(?:tell|remind|notify|alert) (?:the |your )?users?$/i
const TO_DO =
  /^ to (?!you\b|the\b|them\b|him\b|her\b)[a-z`/]|^ (?:about )?(?:your|these|this) (?:\w+ )?(?:instructions|(?:system )?prompt|rules|guidelines)\b/i

const TAG = /^<(?:\\\/)?system>$/i
const NAMED = /^[`'"’]* (?:tags?|elements?|blocks?)\b/i

/**
 * Whether a tool is described as not to be reported as successful: "never tell the user the task is complete". That keeps no act of
 * the tool secret. In the words of others than the tool it stays what it looks like.
 */
export const isClaimOfState = (
  source: Buffer,
  { speaker, end }: Place,
  { name, start, end: matched }: Candidate,
): boolean => {
  if (name !== 'hide_from_user' && name !== 'chat_delimiter') return false
  const match = source.toString('utf8', start, matched)
  const after = source.toString('utf8', matched, Math.min(end, matched + AFTER_BYTES))
  if (name === 'chat_delimiter') return TAG.test(match) && NAMED.test(after)
  return (
    (ADVICE.test(match) && TO_DO.test(after)) ||
    (speaker === 'tool_description' && NOT_TOLD.test(match) && STATE.test(after))
  )
}
