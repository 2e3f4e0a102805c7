/** Endpoints that the Weave SDKs can call below /traces and Weft does not have, each with the reason. */

export interface MissingFeature {
  /** The missing feature, as the object of a sentence. */
  readonly feature: string
  /** Why, as a sentence. */
  readonly reason: string
  /** Method and address below the prefix of the routes, with `{name}` for parameters. */
  readonly endpoints: readonly string[]
}

/** An addition to the spec, which has none of these addresses. */
export const MISSING_FEATURES: readonly MissingFeature[] = [
  {
    feature: 'images',
    reason:
      'Models that are relayed make images at /v1/images; nothing is made or recorded at this address.',
    endpoints: ['POST /image/create'],
  },
  {
    feature: 'files at addresses of their own',
    reason: 'Files are read with /file/content.',
    endpoints: ['POST /files/resolve_url'],
  },
  {
    feature: 'data sets of other projects and the registry',
    reason: 'Weft has no registry; name objects by their refs.',
    endpoints: [
      'POST /link_to_registry',
      'POST /dataset_sources/link',
      'POST /dataset_sources/link_delete',
      'POST /dataset_sources/query',
      'POST /dataset_sources/source_datasets_query',
    ],
  },
  {
    feature: 'runtimes that clients register',
    reason: 'Models are configured by whoever runs the server, in the models file.',
    endpoints: ['PUT /v2/{entity}/{project}/runtimes/{runtime_name}'],
  },
]
