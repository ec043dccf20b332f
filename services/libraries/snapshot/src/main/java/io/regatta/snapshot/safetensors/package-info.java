/**
 * Files of tensors in the safetensors format. Snapshots and models are made of them.
 */
package io.regatta.snapshot.safetensors;
