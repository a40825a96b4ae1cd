fuzz_entry(answer kube)
fuzz_entry(credential kube)
fuzz_entry(kubeconfig kube)
fuzz_entry(watch kube)
