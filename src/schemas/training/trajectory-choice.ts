/** Recognizes choices in a history. Without Zod, which the threads of the store need not load. */

/**
 * Whether an item of messages_and_choices is a choice that a model made, which is what trains; a
 * message, an assistant's too, is context.
 *
 * Spec: §2.12 messages_and_choices (element shapes not shown).
 * Choice: what has finish_reason and message is a choice, what has a role is a message.
 */
export function isTrajectoryChoice(item: object): boolean {
  return Object.hasOwn(item, 'finish_reason') && Object.hasOwn(item, 'message')
}
