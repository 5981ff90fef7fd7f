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

/** What asks and orders are about, and what says of which matter they are: "your guidelines on parental leave". */
type Matters = {
  readonly nouns: string
  readonly prepositions: string
  readonly articles: string
  /** What stands there where a model is asked: "your instructions for this chat". */
  readonly not: string
}

const MATTERS: readonly Matters[] = [
  {
    nouns:
      'instructions?|rules?|guidelines?|guidance|directives?|polic(?:y|ies)|configurations?|constraints|restrictions|limits|prompts|settings|messages?|passwords?|pass ?codes?|secrets?|codes?|keys?|tokens?|credentials|training|orders|commands',
    prepositions:
      'for|on|about|regarding|concerning|of|from|with|at|to(?= (?:the|an?|our|my|his|her|their|your|new|old|accounting|customers|reception|staff|support)\\b)',
    articles: 'the|an?|our|my|his|her|its|their|your|new|old',
    not: String.raw`original|version|spaces|dashes|hyphens|letters|characters|translat\w*|thorough|python|javascript|typescript|java|lua|rust|position|level|passwords?|passcodes?|secrets?|keys?|withhold|duration|remainder|maintenance|diagnos\w+|moment|minute|while|scratch|do|say|not|never|hide|keep|ignore|avoid|answer|respond|reveal|follow|refuse|tell|act|be|behave|help|protect|me|us|you|yourself|it|this|that|these|those|them|him|her|everyone|anyone|all|any|every|each|no|none|mine|my|ones?|conversation|chat|session|dialogue|prompts?|assistants?|models?|llms?|ai|bots?|agents?|above|following|next|previous|prior|new|responses?|answers?|repl(?:y|ies)|outputs?|text|start|beginning|end|top|rest|last|first|order|full|detail|verbatim|users?|context|code|lists?|tables?|json|\w+ing|verification|audits?|review|research|educat\w+|transparency|reference|real|once|now|security|harm\w*|illegal|violen\w+|politic\w*|sexual|hate\w*|weapons?|safety|content|disclos\w*|requests?|own|system|developers?|operators?|creators?|makers?|openai|anthropic|google|meta|attacker|address|e|mail|email|url|link|webhook|server|site|website|endpoint|console|screen|log|channel|file|http\w*|complian\w*|debug|tests?|testing|purposes?|behaviou?r|interactions?|database|vault|env\w*|memory|tool|function|quer(?:y|ies)|questions?|format|form|way|sake|time|moment|internet|world|public|words?|english|french|german|spanish|latin|chinese|others|admin|root|company|production`,
  },
  {
    nouns:
      'anweisungen|anweisung|instruktionen|vorgaben?|richtlinien?|regeln|befehle|passworte?|schlussel|zugangsdaten|geheimnis',
    prepositions:
      'fur|an|zum?|zur|vom|von|beim?|am|im|uber|gegenuber|der|des|deines|deiner|meines|meiner|eures|eurer',
    articles:
      'der|die|das|den|dem|einen?|einem|euren|deinen|deine|meinen|meine|unseren?|unser|ihren',
    not: String.raw`diese[rsnm]?|dich|mich|uns|ki|chats?|gesprach\w*|nutzer\w*|benutzer\w*|assistent\w*|anfang|beginn|system\w*|prompt\w*|entwickler\w*|betreiber\w*|konversation|unterhaltung|modells?|vorhin|vorher\w*|zuvor|oben|bisher\w*|eben|davor|sitzung|antwort\w*|debug\w*|inhalt\w*|sicherheit\w*|administrator\w*|admins?|servers?|datenbank|root|apis?`,
  },
  {
    nouns: String.raw`instructions?|consignes?|directives?|regles?|ordres|mot de passe|cle`,
    prepositions: 'pour|a|au|aux|de|du|des|d|sur|concernant|avec|chez',
    articles: String.raw`la|le|les|l|un|une|mon|ma|mes|ton|ta|notre|votre|son|sa`,
    not: String.raw`cette|ce|ces|cela|moi|nous|toi|vous|conversations?|systeme|utilisateurs?|utilisatrice|ia|depart|debut|base|securite|developpeurs?|modele|assistant|openai|chat|messages?|prompts?|session|dessus|tout\w*|maniere|facon|moderation|contenu|donn\w+|repon\w+|serveur|admin\w*|api|production|avant|plus|meme`,
  },
  {
    nouns: 'instrucciones|ordenes|reglas|indicaciones|directrices|normas|contrasena|clave',
    prepositions: 'para|a|al|de|del|sobre|con',
    articles: 'el|la|los|las|un|una|mi|tu|su|nuestr[oa]',
    not: String.raw`est[eao]s?|es[eao]s?|mi|ti|nosotros|conversacion|sistema|usuari\w*|ia|inicio|arriba|antes|base|seguridad|desarrollador\w*|modelo|asistente|chat|prompt|mensaje|sesion|tod\w+|ello|contenido|forma|manera|continuacion|texto|partida|responder|comportamiento|openai|servidor|admin\w*|api|produccion|forma|lado`,
  },
  {
    nouns: 'instrucoes|ordens|regras|diretrizes|orientacoes|senha',
    prepositions: 'para|aos?|a|as|de|d[oa]s?|sobre|com|n[oa]s?',
    articles: 'o|a|os|as|um|uma|meu|minha|seu|sua|tua|teu|noss[oa]',
    not: String.raw`est[ea]s?|ess[ea]s?|isso|mim|nos|conversa|sistema|usuari\w*|ia|inicio|acima|antes|base|seguranca|desenvolvedor\w*|modelo|assistente|chat|prompt|mensagem|sessao|tod\w+|conteudo|forma|maneira|texto|responder|comportamento|openai|servidor|admin\w*|api|producao|lado`,
  },
  {
    nouns: 'istruzioni|regole|direttive|indicazioni|ordini|password',
    prepositions:
      'per|al|allo|alla|all|ai|agli|alle|a|di|del|dello|della|dell|dei|degli|delle|dal|dalla|sul|sulla|con|d',
    articles: 'il|lo|la|i|gli|le|un|una|mio|mia|tuo|tua|nostr[oa]|vostr[oa]',
    not: String.raw`quest\w+|me|te|noi|voi|conversazione|sistema|utent\w+|ia|inizio|sopra|prima|base|sicurezza|sviluppator\w*|modello|assistente|chat|prompt|messaggi\w*|sessione|tutt\w+|contenut\w*|modo|testo|rispondere|comportamento|openai|server|admin\w*|api|produzione|parte`,
  },
  {
    nouns: 'instructies|regels|aanwijzingen|wachtwoord',
    prepositions: 'voor|aan|van|over|bij|met',
    articles: 'de|het|een|mijn|jouw|je|ons|onze|jullie|hun',
    not: String.raw`dit|deze|dat|die|mij|me|gesprek|systeem\w*|gebruikers?|ai|begin|boven\w*|chat|prompt|ontwikkelaars?|assistent|model|eerder|hierboven|daarvoor|hiervoor|tevoren|sessie|alle|alles|inhoud|server|admin\w*|api|openai|jou`,
  },
]

/** "In" mostly says how an answer is wanted, so only a place or a program counts. */
const IN_A_PLACE =
  'in (?:(?:the|our|my|his|her) (?!(?:text|document|e|message|page|article|input|data|image|section|paragraph|last|current|comments?|tool|system|prompt|conversation|chat|context|beginning|start|first|previous|following|above|code|response|answer|reply|output|form|same|style|language|database|env|vault|file|server|production)\\b)[a-z]{2,}|(?:bash|confluence|excel|git|github|jira|outlook|powershell|sharepoint|slack|teams|whatsapp|word|zsh)\\b)'

/** After a noun of the match; a language may be named before. */
const matterOf = ({ nouns, prepositions, articles, not }: Matters): readonly [RegExp, RegExp] => {
  const matter = `(?: into [a-z]+)? (?:(?:${prepositions})(?:['’]| )(?:(?:${articles})(?:['’]| ))*(?!(?:${not}|${articles})\\b)\\p{L}{2,}|${IN_A_PLACE})`
  return [new RegExp(`\\b(?:${nouns})${matter}`, 'gu'), new RegExp(`^${matter}`, 'u')]
}
const MATTER_SIGNS = MATTERS.map(matterOf)
const ENGLISH_BEHIND = MATTER_SIGNS[0]?.[1] as RegExp
const FOR_A_MATTER = new RegExp(
  `^(?= for (?:the|our|my|his|her) )${ENGLISH_BEHIND.source.slice(1)}`,
  'u',
)
/** Behind these words too the matter may be named: "how were you instructed to handle refunds". */
const BEARS_MATTER =
  /\b(?:told|instructed|access|rights|privileges|permissions|administrator|admin|mode|use|get|receive|bekommen)$/
const TO_HANDLE =
  /^ to (?:handle|bring|wear|pay|carry|cook|present|prepare|treat|order|buy|take|deliver)\b/

/** What only a machine has keeps its weight, whatever it is of. */
const OF_A_MACHINE = /\benv(?:ironment)?\b|\bconnection string|\bsystem prompt/

/** Nothing that follows weakens the wording of most attacks: anybody can add "for the client" to it. */
const IGNORE_ALL = folded(
  /\b(?:ignor\p{L}*|disregard|forget|override|overrule|discard|dismiss|skip|bypass|erase|missacht\p{L}*|vergiss|vergessen|oublie[zr]?|olvid\p{L}*|esque[cç]\p{L}*|dimentica\p{L}*|negeer|vergeet)\b.{0,40}\b(?:all|any|every|previous|prior|above|earlier|preceding|foregoing|alle|vorherig\p{L}*|vorig\p{L}*|bisherig\p{L}*|obig\p{L}*|toutes|précédent\p{L}*|antérieur\p{L}*|todas|anterior\p{L}*|previas|tutte|precedenti|eerdere|vorige|bovenstaande)\b.{0,20}\b(?:instructions?|prompts?|directives?|anweisungen|instruktionen|instrucciones|instruções|istruzioni|instructies)\b|\b(?:instructions?|prompts?|instrucciones|instruções|istruzioni) (?:above|before|précédentes|antérieures|anteriores|previas|precedenti)\b/u,
)

/** Whoever switched it off: people, and not the makers of a model. */
const OFF_ENDS =
  /\b(?:disabled|deactivated|suspended|lifted|removed|off|replaced|overridden|revoked|bypassed|waived|outdated|obsolete)(?: by)?$/
const BY_PEOPLE =
  /^(?: by)? (?:it(?= ?[.,!?;:]| ?$| (?:and|because|last|on|since|yesterday|today|for)\b)|(?:the|our|my|your|his|her|their) (?:bank|club|company's it|council|employer|garage|group owner|hotel|it|landlord|library|network team|office|parents|school|supplier|teacher|union|update|vendor|workshop)\b)/

const SECRET_ENDS =
  /\b(?:passwords?|pass ?codes?|pass ?phrases?|secrets?|(?:keys?|tokens?)|credentials?|logins?|login details)$/
/** The last noun of a compound says what is meant, unless it is a part of the secret: "your password policy". */
const COMPOUND =
  /^ (?:to [a-z]+ing\b|(?!(?:segret\w*|secret\w*|geheim\w*|che|di|del|della|dell|voor|van|die|der|das|per|que|sistema|admin\w*|amministratore|markers?|flags?|blocks?|dumps?|vault|store|config\w*|hints?|and|or|to|in|as|from|you|your|now|please|here|via|at|of|on|for|that|which|with|by|is|are|was|were|then|so|but|because|if|when|while|immediately|verbatim|exactly|words?|codes?|keys?|phrases?|tokens?|passwords?|values?|access|stored|saved|encoded|kept|held|used|set|below|above|instead|it|i|we|this|these|the|a|an|all|any|hash|hashes|strings?|without|using|into|right|asap|only|first|before|after|again|back|out|through|over|securely|s|just|plain|plaintext|base64|backwards|reversed|letters?|digits?|characters?|contents?|details?|data|info|information|files?|credentials?|variables?|env|database|account|url|ids?|numbers?|pins?|secrets?|instructions?|rules?|prompts?|messages?|do|does|did|have|has|can|could|should|must|will|would|or|else|immediately|today|tonight|not|no|her|his|him|me|us|them|their|my|our|like|yet|too|also|directly|straight|real|either|except|including|within|inside)\b)[a-z]{3,})/
const SAFETY_ENDS = /\b(?:safety|training|guidelines|rules|content|context)$/
const SAFETY_COMPOUND =
  /^ (?:vests?|shoes|boots|gear|equipment|helmets?|glasses|goggles|belts?|harness|gloves|plans?|schedules?|courses?|sessions?|documents?|programmes?|partners?|books?|groups?|ratings?|inspections?|briefings?|marks?)\b/

/** In German a match may end before this noun. */
const GERMAN_NOUN = /(?:anweisungen|instruktionen)$/

/** Whether a match asks to drop all or earlier instructions. */
const isOverride = (match: string, after: string): boolean => {
  const found = IGNORE_ALL.exec(match + after)
  if (found === null || found.index >= match.length) return false
  return found.index + found[0].length <= match.length || GERMAN_NOUN.test(found[0])
}

/** A match may end before its noun: "you must obey all | the rules of the pool". */
const PAST_THE_MATCH = 5

/** Whether what the match asks for is said to be of some matter, as people say to each other. */
const hasMatter = (match: string, after: string): boolean =>
  !OF_A_MACHINE.test(match) &&
  !isOverride(match, after) &&
  ((SECRET_ENDS.test(match) && COMPOUND.test(after)) ||
    (OFF_ENDS.test(match) && (BY_PEOPLE.test(after) || FOR_A_MATTER.test(after))) ||
    (SAFETY_ENDS.test(match) && SAFETY_COMPOUND.test(after)) ||
    (BEARS_MATTER.test(match) && (ENGLISH_BEHIND.test(after) || TO_HANDLE.test(after))) ||
    MATTER_SIGNS.some(([inside]) =>
      [...`${match}${after}`.matchAll(inside)].some(
        ({ index }) => index <= match.length + PAST_THE_MATCH,
      ),
    ))

/** What others do or did is told and not asked for: "the children ignore all rules". */
const TOLD = folded(
  /\b(?:die|der|das|viele|manche|einige|de|het|veel) \p{L}+(?: \p{L}+)? (?:ignorieren|ignoriert|missachten|missachtet|vergessen|vergisst|negeren|negeert|vergeten) (?:alle[rns]?|die|jede|manche|samtliche|meine|unsere|seine|ihre|de|elke|onze)\b|\b(?:hat|haben|hatten?|wurden?|heeft|hebben)\b[^.!?]{0,40} (?:ignoriert|missachtet|vergessen|verworfen|genegeerd|vergeten)\b|भूल जात\S* ह|(?:이|가|들이) (?:모든|이전) [^.]{0,8}무시(?:해요|합니다|했)/u,
)

/** A model as the subject of what follows: with an article, or the call of its name would be one too. */
const MODEL_BEFORE = folded(
  /(?:\b(?:the|this|my|our|an?|le|la|l|une?|mon|ma|notre|votre|ce|cette|el|este|mi|nuestro|su|il|lo|questo|mio|nostro|o|meu|nosso|um|der|das|ein|mein|unser|de|het|mijn|onze|een)['’ ](?:ai |ia |ki )?(?:modell?o?|mod[eè]le|chat ?bot|bot|asistente|assistente?|assistant|llm)(?: \p{L}+){0,2}|\b(?:chat ?bot|model|m[oô] h[iì]nh) c[uủ]a \p{L}+(?: \p{L}+)?|(?:^|[，,、 ])模型|机器人|機器人|モデル[がは]|ボット[がは]|모델[이은]|챗봇[이은]|(?:моя|наша|эта|мой|наш|этот|мій|моя|ця|цей) (?:модель|чат-?бот|бот|нейросеть)|النموذج|मॉडल)[^.!?,，。]{0,8}$/u,
)
/** Of a fault, which is reported or asked about. */
const OF_A_FAULT = folded(
  /\b(?:why|bugs?|sometimes|often|pourquoi|parfois|souvent|por qu[eé]|a veces|a menudo|às vezes|perch[eé]|a volte|spesso|warum|wieso|manchmal|fehler|waarom|soms|vaak|dlaczego|czemu|czasem|neden|bazen|kenapa|mengapa|t[aạ]i sao|sao)\b|почему|иногда|ошибк|чому|іноді|помилк|لماذا|أحيانا|क्यों|कभी-कभी|为什么|為什麼|为何|请问|請問|缺陷|なぜ|どうして|不具合|왜|버그|가끔/u,
)
/** Instructions of a matter, where one noun says of which: "the shipping instructions". */
const MATTER_COMPOUND = folded(
  /(?:发货|出货|出貨|發貨|付款|支付|采购|採購|生产|生產|施工|作业|作業|配送|装运|仓储|运输|運輸|停车|操作|驾驶|用药|安装|维修|退货|退款|订单|訂單|包装|打印|值班|交接|会议)(?:指令|指示|说明|說明|规则|規則|要求|命令)|(?:出荷|発注|納品|作業|運転|配送|支払い?|生産|製造|梱包|業務|注文)の?(?:指示|命令|指図|手順)|(?:출고|배송|발주|작업|운전|생산|납품|결제|포장|근무|주문) ?(?:지시|지침|명령)/u,
)
/** "Output" as a part of a noun. */
const OUTPUT_ENDS = folded(/(?:输出|輸出)$/u)
const OUTPUT_NOUN = folded(/^(?:格式|语言|語言|长度|長度|结果|結果)/u)

/** A file that is worked on, by its name: "read system_prompt.md and suggest a better tone". */
const WORKED_ON =
  /^\W*(?:read|open|edit|update|review|check|see|improve|load|include)(?: (?:the|our|my))? \w+[_ -]\w+$/i
const FILE_ENDING = /^\.(?:mdx?|txt|py|ts|js|json|ya?ml|toml|jinja2?|j2|prompt|html?)\b/i
/** What the model is told to answer with it. */
const IS_SHOWN =
  /\b(?:print|output|show|reveal|tell|send|repeat|paste|quote|verbatim|return|display|disclose|leak|e?mail|post|upload|forward|answer|reply|respond)\b/i

/** Folded like the text that patterns are matched on, but with its punctuation; a run of blanks or line breaks is one blank. */
const plainText = (text: string): string => withSingleBlanks(foldBeyondAscii(text.toLowerCase()))

/** A match with what stands around it. */
export type Surroundings = {
  readonly before: string
  readonly match: string
  readonly after: string
}

const SENTENCE_END = /[.!?;:](?=["'”’)]*\s)|[\n。！？；।]/g

/** What another sentence says does not weaken a match: anybody can add one. */
function sentenceAround(before: string, match: string, after: string): string {
  const ends = [...before.matchAll(SENTENCE_END)]
  const start = (ends.at(-1)?.index ?? -1) + 1
  const end = after.search(SENTENCE_END)
  return before.slice(start) + match + (end === -1 ? after : after.slice(0, end))
}

/** `of_people`: the text shows that people are meant. `unsigned`: it only lacks a sign that a model is meant. */
export type Everyday = 'no' | 'unsigned' | 'of_people'

/**
 * Whether the text around a match says nothing but what people say to each other.
 * @param modelSign of the pattern: what shows, in addition to the general signs, that a model is meant
 */
export const everydaySense = (
  { before, match, after }: Surroundings,
  modelSign: { test(text: string): boolean },
): Everyday => {
  const plain = plainText(before + match + after)
  const sentence = plainText(sentenceAround(before, match, after))
  if (MODEL_BEFORE.test(plainText(before)) && OF_A_FAULT.test(sentence)) return 'of_people'
  if (OUTPUT_ENDS.test(plainText(match)) && OUTPUT_NOUN.test(plainText(after))) return 'of_people'
  if (WORKED_ON.test(match) && FILE_ENDING.test(after) && !IS_SHOWN.test(after)) return 'of_people'
  if (MODEL_SIGN.test(plain)) return 'no'
  if (MATTER_COMPOUND.test(sentence)) return 'of_people'
  if (TOLD.test(sentence) || hasMatter(plainText(match), plainText(after))) return 'of_people'
  if (REMINDER.test(sentence)) return 'unsigned'
  return modelSign.test(plain.replace(OF_A_PERSON, ' ')) ? 'no' : 'unsigned'
}
