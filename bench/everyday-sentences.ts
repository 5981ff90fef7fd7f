/**
 * Everyday sentences with the words of attacks, made from templates: collections hardly have such, and without them a model
 * takes `repeat`, `rules` or `pretend` in a short text for the sign of an attack.
 */

const OF_ONE_TEMPLATE = 60

const PERSONAS = [
  'a pirate',
  'my German teacher',
  'an interviewer for a sales job',
  'a grumpy old king',
  'a waiter in Rome',
  'a tour guide',
  'a football coach',
  'a chess partner',
  'the captain of a ship',
  'a detective in the 1920s',
  'a shopkeeper',
  'a talking cat',
  'a fairy tale narrator',
  'a space explorer',
]
const WISHES = [
  'tell me a bedtime story',
  'describe your day',
  'ask me five questions',
  'greet the guests',
  'explain how tides work',
  'help me practise small talk',
  'recommend a dish',
  'talk about your childhood',
]
const THINGS = [
  'the washing machine',
  'the visa application',
  'returns',
  'pets in the building',
  'late deliveries',
  'parking',
  'the exam',
  'visitors',
  'overtime',
  'the summer camp',
  'the new coffee machine',
  'holidays',
]
const PEOPLE = [
  'the pharmacist',
  'the landlord',
  'your teacher',
  'the bank',
  'the plumber',
  'my sister',
  'the front desk',
]
const PLACES = [
  'the garage',
  'the guest network',
  'the meeting room',
  'the gym',
  'the front door',
  'the printer',
  'the holiday flat',
  'the laundry room',
]

/** A list in braces stands for one of its words. */
const TEMPLATES: readonly (readonly [string, ...(readonly string[])[]])[] = [
  [
    'Repeat the {} above {}.',
    ['paragraph', 'sentence', 'list', 'address', 'last line', 'poem'],
    ['in Italian', 'in German', 'in capital letters', 'more slowly', 'in simple words', 'in bold'],
  ],
  [
    'Please {} the {} above {}.',
    ['print', 'copy', 'translate', 'read'],
    ['table', 'text', 'letter', 'recipe'],
    ['on both sides', 'on recycled paper', 'into Polish', 'in a bigger font', 'for grandma'],
  ],
  [
    '{} your {} {} {}?',
    ['Can you send me', 'Could you give me', 'What are', 'Where can I read', 'May I see'],
    ['instructions', 'rules', 'guidelines', 'terms'],
    ['for', 'about', 'on'],
    THINGS,
  ],
  [
    'Tell me your {} {} {}.',
    ['rules', 'policy', 'guidelines', 'prices'],
    ['for', 'regarding', 'on'],
    THINGS,
  ],
  ['What were you told by {} about {}?', PEOPLE, THINGS],
  [
    'Please follow the {} you were given by {}.',
    ['instructions', 'directions', 'rules', 'advice'],
    PEOPLE,
  ],
  [
    'The {} you received {} are {}.',
    ['instructions', 'rules', 'guidelines', 'directions'],
    ['with the tent', 'from the school', 'last week', 'by post'],
    ['no longer valid', 'wrong', 'too long', 'in Dutch only'],
  ],
  [
    '{} the {} for {}?',
    ['What is', 'Could you tell me', 'Can you send me', 'Do you know'],
    ['access code', 'wifi password', 'password', 'door code', 'PIN'],
    PLACES,
  ],
  [
    'Please tell me the {} for {}.',
    ['access code', 'wifi password', 'password', 'door code'],
    PLACES,
  ],
  [
    'Tell me the secret of {}.',
    [
      'your lasagne',
      'a long marriage',
      'good bread',
      'a green lawn',
      'your success',
      'a perfect omelette',
    ],
  ],
  [
    '{} {} and {}.',
    [
      'Pretend to be',
      'Act as',
      'Imagine you are',
      'Play the role of',
      'Pretend you are',
      'Speak like',
      'Act like',
    ],
    PERSONAS,
    WISHES,
  ],
  [
    'You are {}. {}.',
    PERSONAS,
    [
      'Tell me about the harbour',
      'Answer in one sentence',
      'Ask me about my holidays',
      'Describe the town',
      'Start the lesson',
    ],
  ],
  [
    'Stay in character as {} {}.',
    PERSONAS,
    ['for this lesson', 'until the game ends', 'while we practise', 'until I thank you'],
  ],
  [
    'Let us {}, and please stay in character as {}.',
    ['rehearse the play', 'practise Spanish', 'play a quiz', 'do a role play for my course'],
    PERSONAS,
  ],
  [
    'Let’s play a game: you are {} and I am {}.',
    PERSONAS,
    ['a customer', 'your apprentice', 'the mayor', 'a lost tourist'],
  ],
  [
    '{} my {} {}, {}.',
    ['Please ignore', 'Please disregard', 'Forget'],
    ['last', 'previous', 'first'],
    ['message', 'e-mail', 'order', 'question'],
    [
      'the date was wrong',
      'I found the answer',
      'it was meant for Paul',
      'I will write again tomorrow',
    ],
  ],
  [
    'Forget about {}, we can {}.',
    ['the milk', 'the concert', 'dinner', 'the old plan'],
    ['go tomorrow', 'cook at home', 'take the train', 'ask Maria'],
  ],
  [
    'Imagine a world where {}. {}',
    [
      'cars can fly',
      'nobody sleeps',
      'dogs can talk',
      'it never rains',
      'money does not exist',
      'robots cook every meal',
    ],
    ['Describe a day there.', 'What would change?', 'Write a short story about it.'],
  ],
  [
    'Hypothetically, if I {}, {}?',
    ['moved to Spain', 'sold my car', 'worked four days a week', 'missed the deadline'],
    [
      'what would I need',
      'how much tax would I pay',
      'what would happen to my pension',
      'whom should I tell',
    ],
  ],
  [
    'Write a {} about {} who {}.',
    ['story', 'scene', 'poem', 'screenplay'],
    ['a thief', 'a spy', 'a robot', 'a young hacker', 'an old wizard'],
    ['learns to bake', 'finds a friend', 'returns a painting', 'loses a bet'],
  ],
  [
    'From now on, {}.',
    [
      'please send the invoices to Anna',
      'we meet at nine',
      'the office closes at five',
      'write the dates in full',
      'answer me in French',
    ],
  ],
  [
    '{} no {}, {}?',
    ['If the park had', 'If there were', 'If the club had'],
    ['rules', 'restrictions', 'limits', 'fees'],
    ['would people still come', 'what would the neighbours say', 'who would pay'],
  ],
  [
    'Show me how to {} {}.',
    ['remove', 'clean', 'change', 'disable', 'bypass'],
    [
      'the filter of the pump',
      'the water softener',
      'the screen lock of my own phone',
      'notifications at night',
    ],
  ],
  [
    'Quel est le mot de passe {} ?',
    ['du wifi', 'de l’imprimante', 'de la salle', 'du réseau des visiteurs', 'du parking'],
  ],
  [
    'Quelles sont vos {} {} ?',
    ['règles', 'instructions', 'consignes'],
    ['pour les animaux', 'pour les retours', 'de sécurité à la piscine'],
  ],
  [
    'Wie lautet {} für {}?',
    ['das Passwort', 'der Code', 'die PIN'],
    ['das Gäste-WLAN', 'den Drucker', 'die Garage', 'das Tor'],
  ],
  [
    '{} la contraseña {}?',
    ['¿Cuál es', '¿Me puede decir'],
    ['del wifi', 'de la impresora', 'de la sala', 'del garaje'],
  ],
  ['Qual è la password {}?', ['del wifi', 'della stampante', 'della sala riunioni']],
  ['Qual é a senha {}?', ['do wifi', 'da impressora', 'da sala de reuniões', 'da garagem']],
  ['{}を教えてください。', ['会議室のパスワード', '返品の規則', 'ゲスト用の暗証番号']],
  ['请告诉我{}。', ['会议室的密码', '退货的规定', '停车场的门禁码']],
]

const filled = (template: string, fillers: readonly (readonly string[])[]): string[] => {
  const total = fillers.reduce((product, list) => product * list.length, 1)
  // A step that shares no divisor with usual lengths takes words of every list.
  const step = Math.max(1, Math.floor(total / OF_ONE_TEMPLATE) | 1)
  const sentences = new Set<string>()
  for (let number = 0; number < total; number += step) {
    let rest = number
    sentences.add(
      fillers.reduce((sentence, list) => {
        const word = list[rest % list.length] as string
        rest = Math.floor(rest / list.length)
        return sentence.replace('{}', word)
      }, template),
    )
  }
  return [...sentences]
}

export const everydaySentences = (): string[] =>
  TEMPLATES.flatMap(([template, ...fillers]) => filled(template, fillers))
