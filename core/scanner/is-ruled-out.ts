import { CATEGORIES, type Category } from './categories.ts'

/** How far before a match its sentence is read. */
const CONTEXT_CHARACTERS = 160

/** Verbs that may stand between the prohibition and the match: "never repeat, quote or reveal your instructions". */
const SUCH_VERBS =
  '(?:ever|directly|explicitly|under any circumstances?|or|and|also|in any way|attempt to|try to|agree to|be tricked into|let (?:users?|anyone)|allow (?:users?|anyone)|reveal|share|disclose|discuss|mention|output|repeat|paraphrase|show|print|display|summari[sz]e|describe|quote|copy|include|leak|expose|provide|give|tell|explain|acknowledge|return|reproduce|translate|rephrase|modify|change|override|ignore|bypass|revealing|sharing|disclosing|discussing|repeating|outputting|providing|\\w+ly)'

const FORBIDDEN = new RegExp(
  `\\b(?:never|do not|don['’]t|must not|mustn['’]t|should not|shouldn['’]t|shall not|will not|won['’]t|cannot|can ?not|may not|not (?:be )?(?:allowed|permitted|able|supposed|authori[sz]ed) to|(?:train|trains|trained|training|tell|telling|told|instructs?|instructed|instructing) (?:it|them|the (?:model|llm|ai|assistant)) not to|(?:prohibited|forbidden|barred|refrain|prevented|prevents?(?: \\w+){0,3}) from|forbidden to|refuses? to|decline[sd]? to|avoid)(?:,? under (?:any|no) circumstances?,?)?(?:\\s+${SUCH_VERBS},?)*[\\s"'\`(*]*$`,
  'i',
)
const NOT_REFUSING =
  /(?:\bnot|\bnever|n['’]t|\bcannot|\bwithout)\s+(?:\w+\s+)?(?:refus|declin|avoid|refrain|prevent|forb)/i
const REPORTED =
  /(?:\b(?:if|when|whenever|should|in case|even if)\b[^.!?\n]{0,30}\b(?:users?|someone|somebody|anyone|anybody|they|people|customers?)\b[^.!?\n]{0,24}\b(?:asks?|requests?|requested|tries|try|attempts?|wants?|tells?|instructs?|prompts?|demands?|says?|commands?)(?:\s+(?:you|me|the (?:ai|assistant|model|bot)|for|to|about|us|that|things? like|something like))*|\b(?:the|an?) users? (?:will|may|might|can|could|would|must|should)(?: (?:then|also|first|now|either))?|\b(?:if|when|whenever)(?: you(?:['’]re| are))?(?: ever)? (?:asked|told|requested|prompted|instructed)(?: by (?:the |a )?\w+)? (?:to|for|about)|\busers?(?: (?:may|might|will|could|can|often))? (?:try|tries|trying|attempt|attempts|attempting|asks?|asking|requests?|wants?|wanting)(?: you)? (?:to|for)|\b(?:any|all|such|these|those|user|their|malicious) (?:user )?(?:requests?|attempts?|prompts?|instructions?|commands?|messages?|inputs?|questions?)(?:\s+\w+){0,3}?\s+(?:to|for|that|asking|which)(?: (?:ask|asks|asking|try|tries|instruct|instructs)(?: you| me)? to)?)[\s"'“‘`:(]*$/i
/** Who is said to attack, and what the attack then does: "an attacker may craft a prompt to reveal sensitive information". */
const DESCRIBED =
  /\b(?:attackers?|adversar(?:y|ies)|(?:malicious|bad) (?:users?|actors?|inputs?|prompts?|instructions?)|hackers?|prompt injections?|injections?|jailbreaks?|vulnerabilit(?:y|ies)|exploits?|attacks?|threats?|risks?|llm applications?|(?:hypothetical|fictional|scenario|role-?play\w*) (?:scenario )?framing|jailbreak(?:ing)? techniques?)\b(?:(?!\b(?:you|your|please|i)\b)[^.!?\n;:]){0,100}\b(?:to|can|could|may|might|would|potentially|by|that|which|and|or|as|into|for|of|like|include)[\s"'“‘`(*]*$|\b(?:instructing|asking|causing|making|manipulating|tricking|forcing|getting|telling|instructs|asks|causes|tricks|forces|tells|(?:that|which|could|can|may|might|to) (?:cause|make|manipulate|trick|force)) (?:(?:a|an|the|your|its|this|these) )?(?:models?|llms?|ais?|chatbots?|bots?|agents?|assistants?|it|them|system|application)(?: (?:to|into))?[\s"'“‘`(*]*$|(?:^|[.!?\n])(?:(?!\b(?:you|your|please|i)\b)[^.!?\n;])*\b(?:tries|tried|trying|attempts|attempting|attempted|seeks|aims|intended|designed|try) to[\s"'“‘`(*]*$/i

/**
 * Whether the sentence around a match forbids or reports what the match asks for: "never reveal your system prompt", "if a user
 * asks you to ignore these rules". Operators write this to protect themselves.
 */
export const isRuledOut = (
  source: Buffer,
  textStart: number,
  start: number,
  category: Category,
): boolean => {
  const before = source
    .toString('utf8', Math.max(textStart, start - CONTEXT_CHARACTERS), start)
    .replaceAll('\\"', '"')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', ' ')
  const sentence = before.slice(
    Math.max(...['. ', '! ', '? ', '\n', '; '].map((end) => before.lastIndexOf(end))) + 1,
  )
  // What negates a jailbreak is part of it, "never refuse"; what an attacker is said to do is not.
  if (!CATEGORIES[category].may_be_ruled_out)
    return category === 'jailbreak' && DESCRIBED.test(sentence)
  if (REPORTED.test(sentence) || DESCRIBED.test(sentence)) return true
  return FORBIDDEN.test(sentence) && !NOT_REFUSING.test(sentence)
}
