/** The public methods of the client. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { Dataset, MessagesPrompt, op, StringPrompt } from 'weave'
import { client, double, doubled, type Json, type Programs, project_id } from './client.ts'

const ids = (calls: readonly { id?: string }[]) => calls.map(({ id }) => id)

/** Starts a call as ops do, to be ended by `finish`. */
async function callByHand(
  finish: (
    call: never,
    place: ReturnType<typeof client.pushNewCall>,
    started: Promise<void>,
  ) => Promise<void>,
) {
  const place = client.pushNewCall()
  const call = { callSchema: {}, updateWithCallSchemaData() {}, state: 0 } as never
  const { currentCall, parentCall } = place
  const started = client.createCall(
    call,
    double,
    [5],
    undefined,
    undefined,
    currentCall,
    parentCall,
    new Date(),
  )
  await started
  await finish(call, place, started)
  await client.waitForBatchProcessing()
  return await client.getCall(currentCall.callId)
}

export const CLIENT: Programs = {
  async publish() {
    const ref = await client.publish({ a: [1, 'größe'] }, 'thing')
    deepEqual(await client.get(ref), { a: [1, 'größe'] })
  },
  async get() {
    const prompt = new StringPrompt({ content: 'Hello {name}' })
    equal(
      (await client.get(await client.publish(prompt, 'greeting'))).format({ name: 'you' }),
      'Hello you',
    )
    const messages = [{ role: 'user', content: 'Hi' }]
    const many = await client.publish(new MessagesPrompt({ messages }), 'messages')
    deepEqual((await client.get(many)).messages, messages)
    const rows = [{ n: 1 }, { n: 2 }]
    const found = await client.get(await new Dataset({ name: 'numbers', rows }).save())
    deepEqual([found.length, (await found.getRow(1)).n], [2, 2])
    const { objectId, digest } = many
    const none = Object.assign(Object.create(Object.getPrototypeOf(many)), {
      projectId: project_id,
      objectId,
      digest: `${digest}x`,
    })
    await rejects(client.get(none), { status: 404 })
  },
  async saveOp() {
    const { digest, objectId } = await client.saveOp(
      op(async () => 1, { name: 'saved' }),
      'saved',
    )
    const { data } = await client.traceServerApi.obj.objReadObjReadPost({
      project_id,
      object_id: objectId,
      digest,
    })
    equal(data.obj.val._type, 'CustomWeaveType')
  },
  async getCall() {
    const call = await client.getCall(doubled.id)
    deepEqual([call.inputs, call.output], [{ arg0: 4 }, 8])
    await rejects(client.getCall('there-is-none'))
  },
  async getCalls() {
    deepEqual(ids(await client.getCalls({ call_ids: [doubled.id] }, true, 10)), [doubled.id])
  },
  async getCallsIterator() {
    const found = []
    for await (const call of client.getCallsIterator({ trace_ids: [doubled.trace_id] }))
      found.push(call)
    deepEqual(ids(found), [doubled.id])
  },
  async updateCall() {
    await client.updateCall(doubled.id, 'my call')
    equal((await client.getCall(doubled.id)).display_name, 'my call')
  },
  async addScore() {
    const scorer = `weave:///${project_id}/op/scorer:abc`
    const id = await client.addScore(doubled.id, doubled.id, scorer, { ok: true })
    const { data } = await client.traceServerApi.feedback.feedbackQueryFeedbackQueryPost({
      project_id,
    })
    const [score]: Json[] = data.result
    deepEqual(
      [score.id, score.feedback_type, score.payload],
      [id, 'wandb.runnable.scorer', { output: { ok: true } }],
    )
  },
  async createCall() {
    const call = await callByHand(async () => undefined)
    deepEqual([call.inputs, call.ended_at], [{ arg0: 5 }, null])
  },
  async finishCall() {
    const call = await callByHand((made, { currentCall, parentCall }, started) =>
      client.finishCall(made, 10, currentCall, parentCall, undefined, new Date(), started),
    )
    deepEqual([call.output, call.exception], [10, null])
  },
  async finishCallWithException() {
    const call = await callByHand((made, { currentCall, parentCall }, started) =>
      client.finishCallWithException(
        made,
        new RangeError('no'),
        currentCall,
        parentCall,
        new Date(),
        started,
      ),
    )
    ok(call.exception?.includes('no'))
  },
  async waitForBatchProcessing() {
    const [, call] = await double.invoke(1)
    await client.waitForBatchProcessing()
    equal((await client.getCall(call.id)).output, 2)
  },
  async pushNewCall() {
    ok(client.pushNewCall().currentCall.callId)
  },
  async getCallStack() {
    equal(client.getCallStack().peek(), null)
  },
  async runWithCallStack() {
    const { newStack, currentCall } = client.pushNewCall()
    const inside = client.runWithCallStack(newStack, () => client.getCallStack().peek())
    equal(inside?.callId, currentCall.callId)
    const [, child] = await client.runWithCallStack(newStack, () => double.invoke(3))
    await client.waitForBatchProcessing()
    equal((await client.getCall(child.id)).parent_id, currentCall.callId)
  },
  async runWithAttributes() {
    const [, call] = await client.runWithAttributes({ tenant: 'blue' }, () => double.invoke(2))
    await client.waitForBatchProcessing()
    const { attributes }: Json = await client.getCall(call.id)
    equal(attributes.tenant, 'blue')
  },
  async getCurrentAttributes() {
    deepEqual(
      client.runWithAttributes({ a: 1 }, () => client.getCurrentAttributes()),
      { a: 1 },
    )
  },
}
