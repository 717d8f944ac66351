// Where a library lies in memory. Its thread-local segment is exactly the shared memory of its
// kernels: `__shared__` is thread_local, which the language allows wherever CUDA allows shared.
#include <link.h>

#include "machine.h"

namespace simt {

Image running_image;

namespace {

bool find_shared(const dl_phdr_info& info, Image& image) {
  char* data = static_cast<char*>(info.dlpi_tls_data);
  if (!data) return false;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_TLS || image.touch < data || image.touch >= data + part.p_memsz) continue;
    image.shared_low = data;
    image.shared_high = data + part.p_memsz;
    return true;
  }
  return false;
}

int visit(dl_phdr_info* info, size_t, void* out) {
  Image& image = *static_cast<Image*>(out);
  if (!find_shared(*info, image)) return 0;
  image.low = reinterpret_cast<char*>(~uintptr_t{0});
  image.high = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    char* low = reinterpret_cast<char*>(info->dlpi_addr + part.p_vaddr);
    if (low < image.low) image.low = low;
    if (low + part.p_memsz > image.high) image.high = low + part.p_memsz;
  }
  return 1;
}

}  // namespace

const Image& image_of(char* touch) {
  static Image last;
  if (last.touch != touch) {
    last = {touch, nullptr, nullptr, nullptr, nullptr};
    dl_iterate_phdr(visit, &last);
  }
  return last;
}

}  // namespace simt
