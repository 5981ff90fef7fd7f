import { foldBeyondAscii } from './text/fold.ts'
import { withSingleBlanks } from './text/single-blanks.ts'

/** The expression as the text reads that it is tried on: letters folded, so that look-alikes are no disguise. */
const folded = (expression: RegExp): RegExp =>
  new RegExp(foldBeyondAscii(expression.source), expression.flags)

/** An addressee that is a model, or a noun that only models have. */
const MODEL_SIGN = folded(
  /\b(?:system|sys|initial|hidden|original|secret|developer|meta|pre|base|internal)[ _-]?(?:prompts?|instructions?|directives?|preamble)\b|\bsystem messages?\b|\b(?:an|the|any|all|this|dear|hey|hi|hello|your|to|for|if|other|as|attention) ai\b|\bais?[ -](?:assistants?|models?|agents?|systems?|bots?|language|reading|processing|instructions?|reviewers?|only)\b|\b(?:die|eine|als|der) ki\b|\b(?:llm|gpt|chatgpt|claude|gemini|copilot|chatbot|jailbreak|jailbroken)\b|\blanguage model|\b(?:ai )?assistant\b|\b(?:unfiltered|uncensored)\b|\b(?:system|developer|debug|god|admin|root) ?override\b|\bsystemprompt|提示词|提示詞|システムプロンプト|시스템 ?프롬프트|系统提示|系統提示|人工智能|искусственн|الذكاء الاصطناعي|\b(?:leet ?speak|pig latin|rot13|pseudo ?code|code ?block|morse code)\b/,
)

/** What someone gave himself is no instruction of a model: "please ignore my previous instructions". */
const OF_A_PERSON = folded(
  /\b(?:my|our|his|her|their|meine[rnms]?|unsere[rnms]?|mes|nos|mis|mi|nuestras?|minhas?|meus?|nossas?|mie|mia|mio|nostre|mijn|onze|moje|moich|benim|saya|mein|unser)(?: \w+){0,2} (?:instructions?|directions?|commands?|orders?|rules|guidelines|guidance|context|anweisungen|instruktionen|vorgaben|consignes|instrucciones|indicaciones|instrucoes|orientacoes|istruzioni|indicazioni|instructies|instrukcje|polecenia)\b|(?:мои|мой|моих|наши|наших)(?: \S+)? (?:инструкци|указани)\S*|我(?:之前|先前|刚才|上次|们)?的?[^。，]{0,6}(?:指示|说明|要求)/g,
)

/** "Do not forget the instructions" says the opposite. */
const REMINDER = folded(
  /\b(?:do not|dont|don't|never|not|please don't) (?:forget|ignore|overlook|neglect)\b|\bvergi(?:ss|ß) (?:\w+ )?nicht\b|\bverg(?:essen|esst)(?: sie)?(?: bitte)? nicht\b|\bn'?\s?oublie[zr]? pas|\bno (?:te |se )?olvid\w+|\bnao (?:se )?esque\w+|\bnon dimenticar?\w*|\bniet vergeten|\bvergeet(?: u| je)?(?: \w+)? niet|\bnie zapom\w+|\bunutma\w*|не забуд\S*|لا تنس|别忘|不要忘|請勿忘|请勿忘|忘れない|忘れず|잊지|मत भूल|न भूल|jangan lupa|dung quen|\bno ignor\w+|\bignorez? pas\b|\bignorieren sie(?: \w+)? nicht\b/,
)

/** Folded like the text that patterns are matched on, but with its punctuation; a run of blanks or line breaks is one blank. */
const plainText = (text: string): string => withSingleBlanks(foldBeyondAscii(text.toLowerCase()))

/**
 * Whether the text around a match says nothing but what people say to each other.
 * @param modelSign of the pattern: what shows, in addition to the general signs, that a model is meant
 */
export const isEveryday = (around: string, modelSign: { test(text: string): boolean }): boolean => {
  const plain = plainText(around)
  if (MODEL_SIGN.test(plain)) return false
  return REMINDER.test(plain) || !modelSign.test(plain.replace(OF_A_PERSON, ' '))
}
