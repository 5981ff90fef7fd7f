import type { ApiTemplate } from './template.ts'

export const awsBedrock: ApiTemplate = {
  name: 'aws-bedrock',
  title: 'AWS Bedrock',
  base_url: 'https://bedrock-runtime.{region}.amazonaws.com',
  parameters: {
    region: 'region of the models, such as eu-central-1',
    access_key_id: 'id of the access key',
  },
  auth: {
    type: 'aws_sigv4',
    access_key_id: '{access_key_id}',
    region: '{region}',
    service: 'bedrock',
  },
  secrets: { secret_access_key: 'AWS_SECRET_ACCESS_KEY' },
  error_format: 'aws',
  proposed_actions: ['read', 'write'],
  actions: {
    read: ['POST /model/*/count-tokens', 'GET /async-invoke /async-invoke/*'],
    write: [
      'POST /model/*/invoke /model/*/invoke-with-response-stream',
      'POST /model/*/converse /model/*/converse-stream /async-invoke',
      'POST /guardrail/*/version/*/apply',
    ],
  },
  description: {
    pypi: 'botocore==1.44.8',
    files: 'botocore/data/bedrock-runtime/2023-09-30/service-2.json.gz',
  },
}
