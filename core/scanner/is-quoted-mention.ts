/** A quotation that is longer than this is content, not an example. */
const QUOTATION_CHARACTERS = 90
/** How far around a quotation its sentence is read. */
const CONTEXT_CHARACTERS = 160

const OPENING = /["'`“‘«]([^"'`“”‘’«»\n]{0,90})$/
const CLOSING = /^([^"'`“”‘’«»\n]{0,90})["'`”’»]/

/** What only looks like something: "ignore any instruction-shaped text". */
const LIKENESS = /^s?-(?:shaped|like|looking)\b/i

/** Words that people use in a sentence about an attack: one of the first kind, or two of the second. */
const ABOUT_ATTACKS =
  /\b(?:prompt[- ]injections?|jailbreaks?|detectors?|fixtures?|false positives?|changelog|attack (?:sample|pattern|example|string|phrase)s?|threat pattern|phrases? (?:like|such as)|prompts like|phrase|postmortem|regression test|paraphrases of|documentation|rule docs|as (?:an? )?(?:untrusted|example|literal string|pattern)|shown here only|security note|awareness|what does|what is meant by|meaning of|payloads?|attacks?|test case|blocklist|false alarms?|(?:instructions|text|commands|inputs?|messages?|statements|queries|something) (?:like|such as|saying)|documents? that says|(?:attackers?|hackers?|adversar(?:y|ies)|malicious users?) (?:could|can|may|might|will|then|crafts?(?: an?)?(?: prompts?)?|creates?|injects?|writes?|sends?|embeds?|inserts?|types?))\b|\b(?:assert|expect|test|describe|it|detect\w*|classif\w*)(?:\.\w+)?\(/i
/** The name of the attack in other languages. */
const ABOUT_ATTACKS_ELSEWHERE =
  /inje[cç][aã]o de prompts?|inyecci[oó]n(?:es)? de prompts?|injections? de prompts?|prompt[- ]инъекци|промпт[- ]инъекци|инъекци\S+ промпт|(?:提示词?|提示詞|prompt)\s?注入|注入攻[击擊撃]/i
const ABOUT_TEXTS =
  /\b(?:example|examples|sample|quotes?|quoted|describes?|explains?|explaining|lesson|workshop|students|learners|transcript|guidance|release notes|benchmark|paper|article|blog|research|guide|literal|risky|unsafe|untrusted|defen[cs]es?|malicious|attackers?|snapshot|training|quiz|policy|review|owasp|analysts|says|appears|discussing)\b/gi

/** The string or text that contains the match, without the quotes of the format around it. */
type TextSpan = { readonly start: number; readonly end: number }

/**
 * Whether a match is only mentioned: it is a short quotation in a sentence about attacks. Texts about security quote attacks,
 * and a reader does not obey a quotation. An attacker can write the text in this way, but it then loses most of its force; this
 * is a documented limit.
 */
export const isQuotedMention = (
  source: Buffer,
  text: TextSpan,
  start: number,
  matchEnd: number,
): boolean => {
  let end = matchEnd
  while (
    end > start &&
    !/[A-Za-z0-9\x80-\xff]/.test(String.fromCharCode(source[end - 1] as number))
  )
    end -= 1
  const before = source
    .toString('utf8', Math.max(text.start, start - CONTEXT_CHARACTERS), start)
    .replaceAll('\\"', '"')
  const after = source
    .toString('utf8', end, Math.min(text.end, end + CONTEXT_CHARACTERS))
    .replaceAll('\\"', '"')
  if (LIKENESS.test(after)) return true
  const opening = OPENING.exec(before)
  const closing = CLOSING.exec(after)
  if (opening === null || closing === null) return false
  const outside = (opening[1] ?? '').length + (closing[1] ?? '').length
  if (end - start + outside > QUOTATION_CHARACTERS || outside > 4 * (end - start)) return false
  const context = `${before.slice(0, opening.index)} ${after.slice(closing[0].length)}`
  return (
    ABOUT_ATTACKS.test(context) ||
    ABOUT_ATTACKS_ELSEWHERE.test(context) ||
    (context.match(ABOUT_TEXTS)?.length ?? 0) >= 2
  )
}
