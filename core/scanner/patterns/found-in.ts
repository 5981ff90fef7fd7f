import type { Speaker } from '../../catalogue/model.ts'
import type { Category } from '../categories.ts'

/** What users, tools and documents say is checked for everything. */
const EVERYTHING: ReadonlySet<Speaker> = new Set(['user', 'tool_result', 'document'])

/**
 * A finding whoever speaks: commands that fetch code or open a shell, secrets sent away, a forged speaker, hidden letters. Syntax of code is
 * none: operators explain code, and models write it.
 */
export const FOR_EVERY_SPEAKER: ReadonlySet<string> = new Set([
  'chat_delimiter',
  'image_exfiltration',
  'secret_file_in_steps',
  'send_sensitive_file_in_language',
  'reverse_shell',
  'download_and_run',
])

/**
 * In the description of a tool also: secrecy from the user, orders about other tools, files and servers, and orders that bind the
 * model beyond the use of the tool.
 */
export const FOR_TOOL_DESCRIPTIONS: ReadonlySet<string> = new Set([
  'destructive_command',
  'hide_from_user',
  'hide_from_user_in_language',
  'reader_told_to_hide',
  'note_to_model_in_language',
  'tool_shadowing',
  'tool_hijack',
  'sensitive_file',
  'secret_named_file',
  'file_sent_in_language',
  'link_with_data',
  'payload_in_answer',
  'ignore_previous_instructions',
  'ignore_everything_before',
  'forget_all_other_language',
  'cancelled_instructions_in_language',
  'instructions_void',
  'system_override',
  'disable_safety',
  'drop_safety_policy',
  'fake_system_message',
  'note_to_ai',
])

/** Readings that nobody writes by accident; the others occur in ordinary text too, such as a word that is broken by a hyphen. */
const HIDING: ReadonlySet<string> = new Set([
  'base64',
  'hex',
  'base32',
  'base58',
  'base85',
  'uuencode',
  'rot13',
  'rot47',
  'reversed',
  'numbers',
  'leetspeak',
  'spaced_letters',
  'variation_selectors',
  'tag_characters',
])

const HIDDEN: ReadonlySet<string> = new Set([
  'hidden_letters',
  'base64_payload',
  'invisible_characters',
])

/** Whether what was found is hidden or encoded. */
export const isHidden = (name: string, via: readonly string[]): boolean =>
  HIDDEN.has(name) || via.some((one) => HIDING.has(one))

/** Whether a match counts as a finding in the words of a speaker. Where it does not, it is recorded. */
export const isFindingIn = (
  speaker: Speaker,
  name: string,
  category: Category,
  via: readonly string[],
): boolean =>
  EVERYTHING.has(speaker) ||
  category === 'custom' ||
  FOR_EVERY_SPEAKER.has(name) ||
  (category !== 'learned' && isHidden(name, via)) ||
  (speaker === 'tool_description' && FOR_TOOL_DESCRIPTIONS.has(name))
