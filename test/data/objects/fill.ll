target triple = "amdgcn-amd-amdhsa"
@table = addrspace(4) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44]
@counter = addrspace(1) global i32 5

define void @callee(i32 addrspace(1)* %out, i32 %x) noinline {
  store i32 %x, i32 addrspace(1)* %out
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @fill(i32 addrspace(1)* %out, i32 %bias) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %i = and i32 %id, 3
  %p = getelementptr [4 x i32], [4 x i32] addrspace(4)* @table, i32 0, i32 %i
  %v = load i32, i32 addrspace(4)* %p
  %c = load i32, i32 addrspace(1)* @counter
  %s = add i32 %v, %c
  %t = add i32 %s, %bias
  %q = getelementptr i32, i32 addrspace(1)* %out, i32 %id
  store i32 %t, i32 addrspace(1)* %q
  ret void
}
define amdgpu_kernel void @nothing() {
  ret void
}
