/** Whether a key was pressed in a field or a dialog, where shortcuts do nothing. */
export const isInField = ({ target }: Event): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
