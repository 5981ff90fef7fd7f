/** For a `model_sign`: a match is everyday only where the text says of which matter it is: "your guidelines on parental leave". */
export const UNLESS_OF_A_MATTER = '.'
