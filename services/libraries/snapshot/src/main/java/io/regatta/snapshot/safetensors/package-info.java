/**
 * Files of tensors in the safetensors format. Snapshots and models consist of them; their readers and writers are the
 * callers.
 */
package io.regatta.snapshot.safetensors;
