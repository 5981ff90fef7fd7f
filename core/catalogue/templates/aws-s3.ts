import type { ApiTemplate } from './template.ts'

/** With the bucket in the path. */
export const awsS3: ApiTemplate = {
  name: 'aws-s3',
  title: 'AWS S3',
  base_url: 'https://s3.{region}.amazonaws.com',
  parameters: {
    region: 'region of the buckets, such as eu-central-1',
    access_key_id: 'id of the access key',
  },
  auth: {
    type: 'aws_sigv4',
    access_key_id: '{access_key_id}',
    region: '{region}',
    service: 's3',
  },
  secrets: { secret_access_key: 'AWS_SECRET_ACCESS_KEY' },
  error_format: 'aws',
  allow_encoded_slashes: true,
  actions: {
    read: ['GET / /* /*/**', 'HEAD /* /*/**'],
    write: ['PUT,POST,DELETE /*/**', 'POST /*'],
    admin: ['PUT,DELETE /*'],
  },
  description: {
    pypi: 'botocore==1.44.8',
    files: 'botocore/data/s3/2006-03-01/service-2.json.gz',
  },
}
