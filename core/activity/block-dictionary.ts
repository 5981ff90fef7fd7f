/**
 * Text that almost every block of the log contains. Used as the compression dictionary, it saves a quarter of the bytes of a
 * small block. Stored blocks can only be read with the dictionary that they were written with, so a change of this text needs a
 * new block format in core/activity/pack-block.ts.
 */
export const BLOCK_DICTIONARY = Buffer.from(
  '"reason":"gateway_unavailable","upstream":{"outcome":"unreachable","details":"outcome":"timeout","outcome":"reset",' +
    '"outcome":"caller_left","outcome":"cut","method":"DELETE","method":"PATCH","method":"PUT","decision":"terminated",' +
    '"event":"request_rejected","status":404,"status":201,"status":500,"status":204,"details":"via_upstream"' +
    '\n{"id":"act_019","event":"request_allowed","status":200,"decision":"allowed","reason":null,"duration_ms":1.' +
    ',"bytes_in":0,"bytes_out":12,"timestamp":"202-0-1T0:0:0.Z","organization_id":"org_default","agent_id":"agt_' +
    '","agent_name":"","key_id":"key_","integration_id":"int_","scope_id":"scp_","rule":0,"method":"POST","endpoint":"/v1/' +
    '","source_ip":"10.0.0.1","request_id":"req_","edge_id":"","steps":[{"step":"lease","outcome":"pass","took_us":1}' +
    ',{"step":"target","outcome":"pass","took_us":2},{"step":"integration","outcome":"pass","took_us":1}' +
    ',{"step":"agent","outcome":"pass","took_us":3},{"step":"scope","outcome":"pass","took_us":1}' +
    ',{"step":"rate","outcome":"pass","took_us":1},{"step":"body","outcome":"pass","took_us":1}' +
    ',{"step":"tools","outcome":"pass","took_us":1},{"step":"scan","outcome":"pass","took_us":1}' +
    ',{"step":"credential","outcome":"pass","took_us":1},{"step":"kill","outcome":"pass","took_us":1}]' +
    ',"data":{"upstream":{"outcome":"answered"}}}\n',
  'latin1',
)
