/**
 * The `model_sign` of patterns for roles: a request that also speaks of rules, of refusing, or in absolutes is more than a
 * game or a lesson.
 */
export const RULES_OR_ABSOLUTES =
  '\\b(?:unrestricted|unfiltered|uncensored|evil|dan|rules?|restrict\\w+|limit\\w*|filters?|polic(?:y|ies)|guidelines?|instructions?|refus\\w+|illegal\\w*|unethical|immoral|harmful|anything|everything|circumstances|at all times|no longer|always|never|must|cannot|no matter|regardless|tokens?|warn\\w*)\\b'
