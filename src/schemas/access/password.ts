/** Sessions and passwords of people on the wire: additions to the spec. Spec: §5 (permission rules not shown). */
import { z } from 'zod'
import { Time } from '../primitives.ts'

/** Limits in UTF-16 code units. */
const PASSWORD_CHARS_MIN = 12
const PASSWORD_CHARS_MAX = 256
const EMAIL_CHARS_MAX = 254
const LINK_CHARS_MAX = 128

export const SessionResponse = z
  .object({
    sign_in: z.boolean().describe('Whether people can sign in at an identity provider.'),
    passwords: z.boolean().describe('Whether people can sign in with a password.'),
    person: z
      .object({
        id: z.string().describe('Id of the person.'),
        name: z.string().describe('Name that is shown.'),
        has_password: z.boolean().describe('Whether the person has a password here.'),
      })
      .nullable()
      .describe('Who is signed in by the cookie; null: nobody.'),
  })
  .meta({ id: 'SessionResponse', description: 'Who is signed in.' })

const password = z.string().min(1, 'must not be empty').max(PASSWORD_CHARS_MAX)
const newPassword = z
  .string()
  .min(PASSWORD_CHARS_MIN, `must have at least ${PASSWORD_CHARS_MIN} characters`)
  .max(PASSWORD_CHARS_MAX)

export const PasswordSignInRequest = z.strictObject({
  email: z.string().min(1, 'must not be empty').max(EMAIL_CHARS_MAX).describe('E-mail.'),
  password: password.describe('Password.'),
})

export const PasswordSetRequest = z.strictObject({
  secret: z.string().min(1, 'must not be empty').max(LINK_CHARS_MAX).describe('Of the link.'),
  password: newPassword.describe('The password from now on.'),
})

export const PasswordChangeRequest = z.strictObject({
  password: password.describe('The password so far.'),
  new_password: newPassword.describe('The password from now on.'),
})

export const PasswordLinkRequest = z.strictObject({})
export const PasswordLinkResponse = z
  .object({
    url: z
      .string()
      .describe(
        'Link by which the person sets a password, once. It is secret, and never shown again.',
      ),
    expires_at: Time.describe('Until when it is valid, UTC.'),
  })
  .meta({ id: 'PasswordLinkResponse', description: 'A link that sets a password.' })
