/** People on the wire: additions to the spec. Spec: §5 (permission rules not shown). */
import { z } from 'zod'
import { nameOf, Time } from '../primitives.ts'
import { ProjectPatterns } from './key.ts'

const NAME_CHARS_MAX = 128
const EMAIL_CHARS_MAX = 254
const GRANTS_MAX = 50

export const ROLES = ['playground', 'viewer', 'rater', 'developer', 'admin'] as const

/** A role in projects. */
export const RoleGrant = z
  .strictObject({
    role: z
      .enum(ROLES)
      .describe(
        'playground: uses models. viewer: reads. rater: reads and writes, as feedback. developer: all that a project needs. admin: all.',
      ),
    projects: ProjectPatterns.describe('Where: `acme/demo`, `acme/*` or `*`.'),
  })
  .meta({ id: 'RoleGrant', description: 'A role in projects.' })
export type RoleGrant = z.infer<typeof RoleGrant>

/** A rule of WEFT_OIDC_GRANTS: a role for those whose claim has a value; without a claim, for everybody. */
export const ClaimRule = z
  .strictObject({
    claim: z.string().min(1).optional(),
    value: z.string().optional(),
    ...RoleGrant.shape,
  })
  .refine(({ claim, value }) => (claim === undefined) === (value === undefined), {
    message: 'must have claim and value, or neither',
  })
export type ClaimRule = z.infer<typeof ClaimRule>

export const SignInQuery = z.object({
  return_to: z
    .string()
    .max(2048)
    .optional()
    .describe('Path of this server that is shown afterwards. Default: `/`.'),
})
export const SignOutRequest = z.strictObject({})
export const SignOutResponse = z.object({
  redirect_url: z
    .string()
    .nullable()
    .describe('Where the browser signs out at the provider, too; null: nowhere.'),
})

const name = nameOf(NAME_CHARS_MAX).nullish().describe('Name that is shown. Default: the e-mail.')
const grants = z.array(RoleGrant).max(GRANTS_MAX)

export const PersonCreateRequest = z
  .strictObject({
    email: z
      .string()
      .max(EMAIL_CHARS_MAX)
      .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
      .describe('Verified e-mail that the identity provider reports at the first sign-in.'),
    name,
    grants: grants
      .min(1, 'must name at least one')
      .describe('Roles by projects, no more than the caller may use.'),
  })
  .meta({ id: 'PersonCreateRequest', description: 'A person to invite.' })

export const PersonUpdateRequest = z
  .strictObject({
    name,
    grants: grants
      .optional()
      .describe('Roles by projects, in the place of those that admins gave before.'),
    disabled: z
      .boolean()
      .optional()
      .describe('true refuses the person and ends all sessions; false admits the person again.'),
    end_sessions: z.literal(true).optional().describe('Ends all sessions, and nothing else.'),
  })
  .meta({
    id: 'PersonUpdateRequest',
    description: 'What changes of a person; a field that is absent stays.',
  })
export type PersonUpdateRequest = z.infer<typeof PersonUpdateRequest>

export const PersonResponse = z
  .object({
    id: z.string().describe('Id of the person: the user of what the person does.'),
    issuer: z.string().nullable().describe('Identity provider; null before the first sign-in.'),
    subject: z.string().nullable().describe('Id at the provider; null before the first sign-in.'),
    email: z.string().nullable().describe('Verified e-mail; null: the provider reports none.'),
    name: z.string().nullable().describe('Name that is shown; null: the e-mail or the id is.'),
    grants: z.array(RoleGrant).describe('Roles that admins gave.'),
    claim_grants: z.array(RoleGrant).describe('Roles by the claims of the last sign-in.'),
    created_at: Time.describe('When the person was invited or first signed in, UTC.'),
    signed_in_at: Time.nullable().describe('Last sign-in, UTC; null: none.'),
    password_set_at: Time.nullable().describe('When the password was set, UTC; null: none.'),
    link_expires_at: Time.nullable().describe(
      'Until when the link that sets the password is valid, UTC; null: there is no link.',
    ),
    sessions_from: Time.nullable().describe(
      'Sessions that began before are over, UTC; null: none was ended.',
    ),
    disabled_at: Time.nullable().describe('When the person was removed, UTC; null: not removed.'),
  })
  .meta({ id: 'PersonResponse', description: 'A person who may sign in.' })
export type PersonResponse = z.infer<typeof PersonResponse>

export const PersonListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z.array(PersonResponse).describe('People, oldest first.'),
})
export const PersonListQuery = z.strictObject({})
export const PersonParams = z.object({
  person_id: z.string().max(128).describe('Id of the person.'),
})
